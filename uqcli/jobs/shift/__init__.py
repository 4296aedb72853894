"""Job of ``shift``."""
