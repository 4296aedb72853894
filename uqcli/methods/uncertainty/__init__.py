"""Scores and uncertainties from what models give: Beta parameters or members."""
