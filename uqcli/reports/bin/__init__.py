"""Report of ``uqcli bin``."""
