"""Grids of counts: in Python."""
