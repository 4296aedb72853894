"""Algorithms of ``conformal``."""
