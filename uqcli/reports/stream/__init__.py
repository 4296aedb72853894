"""Rows that pass through: what is said of them."""
