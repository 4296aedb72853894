"""Calibrated probabilities: the story of the command."""
