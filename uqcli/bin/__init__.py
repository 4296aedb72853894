"""``uqcli bin``."""
