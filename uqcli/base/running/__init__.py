"""``uqcli running``."""
