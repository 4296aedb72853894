"""Python API of ``conformal``."""
