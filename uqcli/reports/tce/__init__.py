"""Calibration errors: what is said of them."""
