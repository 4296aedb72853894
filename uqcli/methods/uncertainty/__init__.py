"""Uncertainties of scores, from counts or from the members of an ensemble."""
