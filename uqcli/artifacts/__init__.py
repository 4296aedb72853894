"""Kinds of rules, one module each: struct, contradictions, columns read and added, words and guarantee.

Files of rows do not belong here.
"""
