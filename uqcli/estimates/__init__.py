"""Estimates with their intervals and tests, of rows drawn in any way."""
