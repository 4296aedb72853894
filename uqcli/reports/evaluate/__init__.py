"""Saved models on labelled rows: what is said of them."""
