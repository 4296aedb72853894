"""``uqcli boundary``."""
