"""Comparison of new rows, without labels, with the rows that a rule was fitted on."""
