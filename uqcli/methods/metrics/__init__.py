"""Measures of decisions."""
