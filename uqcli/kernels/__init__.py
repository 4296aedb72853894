"""Array loops that are compiled when the work is large."""
