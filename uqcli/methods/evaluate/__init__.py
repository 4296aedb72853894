"""Algorithms of ``evaluate``."""
