"""``uqcli evaluate``."""
