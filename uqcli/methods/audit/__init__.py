"""Audit of segments: where the observed positives differ from those that are expected."""
