"""Grids of counts: the story of the command."""
