"""Reports of commands whose output is rows."""
