"""Saved models on labelled rows: the story of the command."""
