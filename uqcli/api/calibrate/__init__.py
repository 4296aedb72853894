"""Calibrated probabilities: in Python."""
