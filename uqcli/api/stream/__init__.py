"""Rows that pass through: in Python."""
