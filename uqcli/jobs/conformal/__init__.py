"""Conformal sets: the story of the command."""
