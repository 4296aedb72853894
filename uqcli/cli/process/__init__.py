"""The process of a run: signals, threads, memory, environment, and progress on the terminal."""
