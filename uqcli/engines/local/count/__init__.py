"""Checked rows as small, sorted counts, in bounded memory."""
