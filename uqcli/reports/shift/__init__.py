"""Report of ``uqcli shift``."""
