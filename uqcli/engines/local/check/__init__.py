"""Validate raw rows; unusable values are counted and explained."""
