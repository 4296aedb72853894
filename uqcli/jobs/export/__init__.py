"""Job of ``export``."""
