"""Saved models on labelled rows: the algorithms."""
