"""The commands as functions on arrays and data frames, with fitted objects that can be saved and loaded.

Arithmetic does not belong here, since the functions call the jobs of the commands.
"""
