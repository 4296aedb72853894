"""Aggregate checked rows to sorted counts, in bounded memory."""
