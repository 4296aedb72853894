"""Watch what a rule promises while labels arrive."""
