"""Calibration errors: the algorithms."""
