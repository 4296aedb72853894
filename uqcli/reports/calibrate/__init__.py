"""Calibrated probabilities: what is said of them."""
