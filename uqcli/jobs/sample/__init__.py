"""``uqcli sample``."""
