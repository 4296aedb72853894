"""Calibration errors: in Python."""
