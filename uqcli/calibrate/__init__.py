"""``uqcli calibrate``."""
