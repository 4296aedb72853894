"""Report of ``uqcli calibrate``."""
