"""Algorithms of ``tce``."""
