"""The closed sets of choices; each is parsed by its value and listed in help as it stands here."""

from __future__ import annotations

from enum import StrEnum


class Algorithm(StrEnum):
    """How a boundary is found (methods/boundary/registry.py has one entry each)."""

    VW_DPMT = "vw-dpmt"
    MIST = "mist"
    ST = "st"


class Binning(StrEnum):
    """How score and uncertainty are cut into bins (methods/binning/registry.py)."""

    EQUI_WEIGHT = "equi-weight"
    EQUI_SPAN = "equi-span"


class ConstraintKind(StrEnum):
    """What a boundary has to keep."""

    PRECISION = "precision"


class OnInvalid(StrEnum):
    """What to do with a row whose needed value is null, NaN or infinite."""

    ERROR = "error"
    DROP = "drop"
    KEEP = "keep"


class FileFormat(StrEnum):
    """File formats that are read and written."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


class EngineName(StrEnum):
    """What reads the files and counts."""

    POLARS = "polars"


class ArtifactKind(StrEnum):
    """Kinds of saved models."""

    BOUNDARY = "boundary"
