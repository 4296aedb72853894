"""Class weights of another class mix: the algorithms."""
