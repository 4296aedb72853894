"""Python API of ``bin``."""
