"""Python API of ``calibrate``."""
