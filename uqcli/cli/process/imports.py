"""Start-up work of Python and libraries that a command pays for and does not use."""

from __future__ import annotations

import importlib
import sys
import threading
import types
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, Final

_FUNCTIONS: Final = {"scipy.special": "scipy.special._ufuncs", "scipy.linalg": ""}
"""Packages, and the module of each with the compiled functions that are loaded at once."""


def import_less() -> None:
    """Load only the compiled functions of ``scipy.special``, until something else of it is used (0.1 s).

    Its other parts need linear algebra and a copy of numpy with all that numpy imports on demand. From
    scipy 1.18 on, so do its compiled functions (0.5 s), for a module
    of ``scipy.linalg`` that needs no others.
    """
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds these packages; other modules are left to other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the package as usual, with another loader."""
        if fullname not in _FUNCTIONS:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """Loads the compiled functions now, and the package itself into the same module when it is needed."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = threading.RLock()

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        """See Loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        """See Loader."""
        compiled = _FUNCTIONS[module.__name__]
        functions = vars(importlib.import_module(compiled)) if compiled else {}
        light = {name: value for name, value in functions.items() if not name.startswith("_")}

        def rest(name: str) -> Any:
            with self._lock:
                if vars(module).pop("__getattr__", None) is not None:
                    self._loader.exec_module(module)
            return getattr(module, name)

        vars(module).update(light, __getattr__=rest)
