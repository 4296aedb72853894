"""Two sets of probabilities of the same rows, side by side."""
