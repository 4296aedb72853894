"""Python API of ``boundary``."""
