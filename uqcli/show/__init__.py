"""``uqcli show``."""
