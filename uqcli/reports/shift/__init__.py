"""Class weights of another class mix: what is said of them."""
