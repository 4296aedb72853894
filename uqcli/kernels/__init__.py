"""Loops from arrays to arrays, which numba compiles when the work is large.

Checks and messages do not belong here.
"""
