"""Job of ``bin``."""
