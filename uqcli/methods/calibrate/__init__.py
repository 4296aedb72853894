"""Calibrated probabilities: the algorithms."""
