"""Job of ``evaluate``."""
