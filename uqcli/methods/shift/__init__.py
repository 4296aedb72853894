"""Algorithms of ``shift``."""
