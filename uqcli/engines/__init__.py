"""From files to checked rows and counts, and streaming files through a model."""
