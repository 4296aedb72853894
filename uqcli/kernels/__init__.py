"""Loops over arrays that run compiled when the work is large."""
