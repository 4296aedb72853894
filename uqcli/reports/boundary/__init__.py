"""Reports of ``uqcli boundary``."""
