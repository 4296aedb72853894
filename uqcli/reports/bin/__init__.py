"""Grids of counts: what is said of them."""
