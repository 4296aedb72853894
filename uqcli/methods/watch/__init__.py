"""Algorithms of ``watch``: tests of a guarantee that stay valid however often you look at the labels."""
