"""Decision boundaries on score x uncertainty."""
