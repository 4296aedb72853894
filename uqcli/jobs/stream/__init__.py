"""Jobs of the streaming commands."""
