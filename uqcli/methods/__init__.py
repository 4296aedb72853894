"""Methods by subject, each from checked counts or arrays to a frozen result.

Files and options do not belong here.
"""
