"""Decision boundaries: in Python."""
