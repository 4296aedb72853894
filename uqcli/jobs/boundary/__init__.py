"""Decision boundaries: the story of the command."""
