"""Report of ``uqcli conformal``."""
