"""The Python surface: the work of every command on arrays and data frames, by the same jobs."""
