"""The engine of one machine: polars and Arrow readers, counting in numpy."""
