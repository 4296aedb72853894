"""Job of ``conformal``."""
