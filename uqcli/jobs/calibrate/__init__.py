"""Job of ``calibrate``."""
