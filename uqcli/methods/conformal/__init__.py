"""Sets of classes that hold the true one with a promised probability."""
