"""Jobs by subject, each from a frozen request to a result with its report, rule and failure.

Formulas and typer do not belong here.
"""
