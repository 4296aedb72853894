"""The package itself and a model's function as bytes, for workers that have not installed it."""

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
    """The package's sources as a zip file, the same bytes whenever it is made."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_PACKAGE.rglob("*.py")):
            archive.writestr(zipfile.ZipInfo(str(path.relative_to(_PACKAGE.parent))), path.read_bytes())
    return made.getvalue()


def function_bytes(function: Callable[..., Any]) -> bytes:
    """A function that may be nested, by name where its module has it: to be read where the package is."""
    from pyspark import cloudpickle

    made: bytes = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
    return made
