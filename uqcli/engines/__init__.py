"""Engines, which read and check rows, pool them into counts, and write the rows that a rule adds to.

Decisions do not belong here.
"""
