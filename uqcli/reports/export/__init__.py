"""Report of ``uqcli export``."""
