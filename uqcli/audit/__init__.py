"""Segments in which a rule or a score fails."""
