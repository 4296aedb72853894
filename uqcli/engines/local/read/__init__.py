"""Files as batches of raw rows, whatever their format."""
