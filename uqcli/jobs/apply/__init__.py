"""``uqcli apply``."""
