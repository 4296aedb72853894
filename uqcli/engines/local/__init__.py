"""Local engine: polars and Arrow readers, counting in numpy."""
