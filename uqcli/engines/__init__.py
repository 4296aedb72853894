"""Engines: read files into checked rows and counts, and apply rules to files."""
