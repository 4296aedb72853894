"""Smoothed rankings of cells, and methods that use them: certificates, and the gain from uncertainty."""
