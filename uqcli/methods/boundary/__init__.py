"""Algorithms of ``boundary``."""
