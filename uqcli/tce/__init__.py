"""``uqcli tce``."""
