"""Class weights of another class mix: in Python."""
