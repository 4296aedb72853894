"""Algorithms of ``bin``."""
