"""Data classes whose methods are shared, so that a command does not compile six of them for each class.

Importing a command defines some 300 data classes. Python before 3.13 compiles their methods one by one, which
takes 0.08 s. Here only ``__init__`` is made for each class; the other methods read its fields when they run.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None,
        *,
        frozen: bool = False,
        kw_only: bool = False,
        eq: bool = True,
        repr: bool = True,  # noqa: A002 - as in ``dataclasses``
    ) -> Any:
        """Define a data class with these options of ``dataclasses.dataclass``."""

        def define(plain: type) -> type:
            made = dataclasses.dataclass(plain, kw_only=kw_only, eq=False, repr=False)
            if repr:
                _define(made, "__repr__", _represent)
            if eq:
                _define(made, "__eq__", _equals)
                _define(made, "__hash__", _hash if frozen else None)
            if frozen:
                _define(made, "__setattr__", _assign)
                _define(made, "__delattr__", _delete)
            return made

        return define if cls is None else define(cls)


def _define(cls: type, name: str, method: Any) -> None:
    """Give a class a method, unless its body has one."""
    if name not in vars(cls):
        setattr(cls, name, method)


def _represent(self: Any) -> str:
    shown = (field.name for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, field.name) for field in dataclasses.fields(self) if field.compare)


def _equals(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _assign(self: Any, name: str, value: object) -> None:
    """Assign a field once, as ``__init__`` does."""
    if name in vars(self) or name not in type(self).__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field '{name}'")
    vars(self)[name] = value


def _delete(_: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field '{name}'")
