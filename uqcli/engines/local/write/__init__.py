"""Rows out to files: read ones with columns added, and made ones."""
