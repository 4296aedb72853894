"""Algorithms of the streaming commands."""
