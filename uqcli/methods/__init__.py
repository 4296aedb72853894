"""Algorithms: checked arrays in, frozen results out."""
