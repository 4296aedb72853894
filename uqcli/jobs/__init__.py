"""One module per command: its options, and the call of its job."""
