"""The process: its signals, its threads and memory, and the terminal that waits for it."""
