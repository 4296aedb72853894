"""``uqcli uncertainty``."""
