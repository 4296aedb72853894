"""Rows that pass through: the story of the command."""
