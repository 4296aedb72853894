"""Readers: files of any format as batches of raw rows."""
