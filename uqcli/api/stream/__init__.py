"""Python API of the streaming commands."""
