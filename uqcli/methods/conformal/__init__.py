"""Conformal sets: the algorithms."""
