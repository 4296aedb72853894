"""Conformal sets: what is said of them."""
