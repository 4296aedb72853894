"""Job of ``boundary``."""
