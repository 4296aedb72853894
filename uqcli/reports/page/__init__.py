"""HTML pages of reports: layout, style and scripts.

What a page says belongs to the report of its command, what a figure shows to the figure.
"""
