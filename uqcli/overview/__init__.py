"""What is in a file of predictions, and what can be done with it."""
