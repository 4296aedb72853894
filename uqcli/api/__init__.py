"""Python API: the commands as functions on arrays and data frames, run by the same jobs."""
