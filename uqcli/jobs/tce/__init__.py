"""Job of ``tce``."""
