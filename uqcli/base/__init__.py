"""Counts, rows, draws, choices and errors: what all rooms build on."""
