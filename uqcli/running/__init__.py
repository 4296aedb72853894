"""State of a run: progress, remarks, free memory, temporary files, and how signals end it.

Results do not belong here.
"""
