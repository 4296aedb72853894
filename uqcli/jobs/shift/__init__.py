"""Class weights of another class mix: the story of the command."""
