"""Reports of ``uqcli watch``."""
