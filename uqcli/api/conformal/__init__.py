"""Conformal sets: in Python."""
