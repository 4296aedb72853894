"""Data classes whose methods are shared, so that a command does not compile six of them for each class.

Importing a command defines some 250 data classes. ``dataclasses`` compiles their methods one by one, which
takes a tenth of the time of a small job. Here every method reads the fields of its class when it runs.
"""

from __future__ import annotations

import dataclasses
import inspect
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
            made = dataclasses.dataclass(plain, kw_only=kw_only, init=False, eq=False, repr=False)
            _define(made, "__init__", _initializer(made))
            _define(made, "__signature__", _Signature())
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


class _Signature:
    """The signature of a class, which ``help`` and ``inspect`` read; its ``__init__`` takes any names."""

    def __get__(self, _: object, cls: type) -> inspect.Signature:
        return inspect.Signature([_parameter(field) for field in dataclasses.fields(cls) if field.init])


def _parameter(field: dataclasses.Field[Any]) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
    default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory
    return inspect.Parameter(field.name, kind, default=default, annotation=field.type)


def _initializer(cls: type) -> Any:
    """Make ``__init__`` of a data class: assign its fields in order, then call ``__post_init__``.

    A field whose metadata have a ``check`` is checked by it whenever an object is made.
    """
    missing, declared = dataclasses.MISSING, dataclasses.fields(cls)
    fields = [(field.name, field.init, field.default, field.default_factory) for field in declared]
    checks = [(field.name, field.metadata["check"]) for field in declared if field.metadata.get("check")]
    positional = [field.name for field in declared if field.init and not field.kw_only]

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        if values:
            _name_positional(cls, positional, values, named)
        assigned = vars(self)
        for name, is_taken, default, factory in fields:
            if is_taken and name in named:
                assigned[name] = named.pop(name)
            elif default is not missing:
                assigned[name] = default
            elif factory is not missing:
                assigned[name] = factory()
            elif is_taken:
                raise TypeError(f"{cls.__qualname__} needs {name}")
        if named:
            raise TypeError(f"{cls.__qualname__} does not take {', '.join(named)}")
        for name, check in checks:
            check(name, assigned[name])
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _name_positional(cls: type, names: list[str], values: tuple[Any, ...], named: dict[str, Any]) -> None:
    if len(values) > len(names):
        raise TypeError(f"{cls.__qualname__} takes {len(names)} positional arguments, not {len(values)}")
    for name, value in zip(names, values, strict=False):
        if name in named:
            raise TypeError(f"{cls.__qualname__} got {name} twice")
        named[name] = value


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
    """Assign a field once, as ``__post_init__`` may."""
    if name in vars(self) or name not in type(self).__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field '{name}'")
    vars(self)[name] = value


def _delete(_: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field '{name}'")
