"""The search for the best boundary that meets a constraint."""
