"""Raw rows as checked arrays: what cannot be used is counted and explained."""
