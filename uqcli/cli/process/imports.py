"""Start-up work of Python and libraries that a command pays for and does not use."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import operator
import sys
import threading
import types
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, Final

_SPECIAL: Final = "scipy.special"


def import_less() -> None:
    """Load only the compiled functions of ``scipy.special``, until something else of it is used (0.1 s).

    Its other parts need linear algebra and a copy of numpy with all that numpy imports on demand.
    """
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds ``scipy.special``; other modules are left to other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the package as usual, with another loader."""
        if fullname != _SPECIAL:
            return None
        sys.meta_path.remove(self)
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
        functions = vars(importlib.import_module(f"{_SPECIAL}._ufuncs"))
        light = {name: value for name, value in functions.items() if not name.startswith("_")}

        def rest(name: str) -> Any:
            with self._lock:
                if vars(module).pop("__getattr__", None) is not None:
                    self._loader.exec_module(module)
            return getattr(module, name)

        vars(module).update(light, __getattr__=rest)


def compile_less() -> None:
    """Let data classes share all methods but ``__init__`` (0.08 s of a command).

    Python before 3.13 compiles six methods for every class, one by one. These do the same without compiling.
    """
    if sys.version_info[:2] == (3, 11):
        module: Any = dataclasses
        module._repr_fn = _repr_of
        module._frozen_get_del_attr = _refusals_of
        module._cmp_fn = _comparison_of
        module._hash_fn = _hash_of


def _values_of(instance: object, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple([getattr(instance, name) for name in names])


def _names_of(fields: Sequence[dataclasses.Field[Any]]) -> list[str]:
    return [field.name for field in fields]


def _repr_of(fields: Sequence[dataclasses.Field[Any]], *_: Any) -> Callable[[Any], str]:
    names = _names_of(fields)

    def shown(self: object) -> str:
        values = zip(names, _values_of(self, names), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in values)})"

    return shown


def _refusals_of(
    cls: type, fields: Sequence[dataclasses.Field[Any]], *_: Any
) -> tuple[Callable[..., None], Callable[..., None]]:
    names, base = frozenset(_names_of(fields)), functools.partial(super, cls)

    def assign(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        base(self).__setattr__(name, value)

    def delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        base(self).__delattr__(name)

    assign.__name__, delete.__name__ = "__setattr__", "__delattr__"
    return assign, delete


def _comparison_of(
    name: str, operator_text: str, own: str, *_: Any, **__: Any
) -> Callable[[object, object], Any]:
    """Compare the fields that ``own`` names, such as ``(self.x,self.y,)``."""
    names = [word.removeprefix("self.") for word in own.strip("()").split(",") if word]
    compare = _OPERATORS[operator_text]

    def compared(self: object, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return compare(_values_of(self, names), _values_of(other, names))

    compared.__name__ = name
    return compared


_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _hash_of(fields: Sequence[dataclasses.Field[Any]], *_: Any) -> Callable[[object], int]:
    names = _names_of(fields)

    def hashed(self: object) -> int:
        return hash(_values_of(self, names))

    return hashed
