"""Which rows to label."""
