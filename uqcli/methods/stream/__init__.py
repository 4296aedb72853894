"""Rows that pass through: the algorithms."""
