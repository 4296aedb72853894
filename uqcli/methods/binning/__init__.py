"""Cutting score and uncertainty into bins."""
