"""How much more frequent classes are in the target than in the source."""
