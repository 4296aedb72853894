"""Python API of ``shift``."""
