"""Features of a boundary's rule: each module owns keys of the file, and the registry names them all."""
