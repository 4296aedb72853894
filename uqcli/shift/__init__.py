"""``uqcli shift``."""
