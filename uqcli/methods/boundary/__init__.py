"""Decision boundaries: the algorithms."""
