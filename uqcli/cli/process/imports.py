"""Imports of libraries that a command pays for and does not use."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Final

_COPY_OF_NUMPY: Final = "scipy._lib.array_api_compat.numpy"
_UNUSED: Final = ("f2py", "testing")


def import_less() -> None:
    """Keep ``scipy.special`` from importing numpy's Fortran and testing parts (0.1 of 0.25 s).

    scipy copies every name of numpy for other array libraries, and so imports what numpy imports on demand.
    """
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds one module, once, and loads it while the unused parts have stand-ins."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the copy of numpy as usual; other modules are left to other finders."""
        del path, target
        if fullname != _COPY_OF_NUMPY:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        """See Loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        """See Loader."""
        with _stand_ins():
            self._loader.exec_module(module)


@contextmanager
def _stand_ins() -> Iterator[None]:
    """Give numpy empty parts in place of those that are not imported yet."""
    numpy = importlib.import_module("numpy")
    missing = [name for name in _UNUSED if name not in vars(numpy)]
    for name in missing:
        setattr(numpy, name, types.ModuleType(f"numpy.{name}"))
    try:
        yield
    finally:
        for name in missing:
            delattr(numpy, name)
