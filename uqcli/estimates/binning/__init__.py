"""Bins of a score or an uncertainty: edges, sizes and the rules that make them."""
