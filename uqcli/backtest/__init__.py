"""Walk a rule through labelled history: fit at the start of each period, measure on it and later ones."""
