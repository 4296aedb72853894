"""Report of ``uqcli tce``."""
