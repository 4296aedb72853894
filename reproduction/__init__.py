"""The papers' results, made again by the program itself: ``python -m reproduction``."""
