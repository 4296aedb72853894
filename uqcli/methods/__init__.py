"""The algorithms: checked arrays in, frozen results out."""
