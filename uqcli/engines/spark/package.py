"""Serialise this package and a rule's function, for workers that have not installed it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

_PACKAGE: Final = Path(__file__).parents[2]


@cache
def package_bytes() -> bytes:
    """Return the zip archive of the package's sources, with reproducible bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_PACKAGE.rglob("*.py")):
            archive.writestr(zipfile.ZipInfo(str(path.relative_to(_PACKAGE.parent))), path.read_bytes())
    return buffer.getvalue()


def function_bytes(function: Callable[..., Any]) -> bytes:
    """Pickle a function, possibly nested; module-level names are pickled by reference."""
    from pyspark import cloudpickle

    pickled: bytes = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
    return pickled
