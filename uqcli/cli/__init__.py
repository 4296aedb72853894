"""Commands and their options: each parses its line, calls one job, writes the results and sets the exit code.

Arithmetic, and the content of rules and reports, do not belong here.
"""
