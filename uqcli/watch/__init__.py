"""``uqcli watch``."""
