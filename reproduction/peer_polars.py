"""Import polars and end, as a floor for small jobs: ``python -m reproduction.peer_polars``."""

import polars  # noqa: F401
