"""Grids of counts: the algorithms."""
