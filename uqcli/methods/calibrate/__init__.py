"""Algorithms of ``calibrate``."""
