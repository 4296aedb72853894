"""Calibration errors: the story of the command."""
