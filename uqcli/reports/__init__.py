"""Results as tables, sentences, JSON, pages and figures, and checks on their metrics.

Computing results does not belong here.
"""
