"""Access to files, object stores and the web by name: listing, reading, writing, and state under a lock.

Rows do not belong here.
"""
