"""Generators of rows with known truth, for the studies and the tests."""
