"""Python API of ``tce``."""
