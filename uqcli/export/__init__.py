"""``uqcli export``."""
