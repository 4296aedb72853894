"""Smoothed rankings of cells, and what rests on them: certificates, and what the uncertainty gains."""
