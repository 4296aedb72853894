"""``uqcli conformal``."""
