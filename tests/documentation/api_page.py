"""The Python API as Markdown, from signatures and docstrings."""

import enum
import inspect
import re

import uqcli
from uqcli.artifacts.saved import Saved

HEAD = """# Python API

This page lists the public functions and classes. [Use uqcli from Python](../how-to/python.md) has an example.
An array is a NumPy array, a list, or a column of polars, pandas, pyarrow or another data frame library.
Letters in brackets are [sources](../explanation/sources.md). `make reference` writes this page from the
docstrings.
"""
GROUPS = ("Functions", "Classes", "Choices", "Errors")


def api_page():
    """All public names."""
    names = [name for name in uqcli.__all__ if not name.startswith("__")]
    lines = [HEAD]
    for group, members in _grouped(names).items():
        lines += [f"## {group}", ""]
        for name in members:
            lines += [*_entry(name, getattr(uqcli, name)), ""]
    return "\n".join(lines)


def _grouped(names):
    groups = {group: [] for group in GROUPS}
    for name in names:
        groups[_group_of(getattr(uqcli, name))].append(name)
    return groups


def _group_of(item):
    if inspect.isfunction(item):
        return "Functions"
    if issubclass(item, enum.Enum):
        return "Choices"
    return "Errors" if issubclass(item, uqcli.UqcliError) else "Classes"


def _entry(name, item):
    yield f"### `{name}`"
    yield ""
    if inspect.isclass(item) and issubclass(item, enum.Enum):
        yield f"{_documented(item)} {', '.join(f'`{each.value}`' for each in item)}."
        return
    if inspect.isfunction(item):
        yield from ("```python", _signature(name, item), "```", "")
    yield _documented(item)
    if inspect.isclass(item) and _group_of(item) == "Classes":
        for member, value in _members(item):
            yield from ("", *_member(name, member, value))


def _members(item):
    """Public methods and properties of a class and of the classes of this program it comes from."""
    found = {}
    for each in reversed(item.__mro__):
        if each.__module__.startswith("uqcli") and each is not Saved:
            found |= {key: value for key, value in vars(each).items() if not key.startswith("_")}
    kinds = (property, classmethod, staticmethod)
    return [
        (key, value) for key, value in found.items() if isinstance(value, kinds) or inspect.isfunction(value)
    ]


def _member(owner, name, value):
    if isinstance(value, property):
        yield f"#### `{owner}.{name}`"
        documented = value.fget
    else:
        documented = getattr(value, "__func__", value)
        yield f"#### `{owner}.{name}()`"
        yield from ("", "```python", _signature(name, documented), "```")
    yield from ("", _documented(documented))


def _signature(name, function):
    parameters = list(inspect.signature(function).parameters.values())
    shown, starred = [], False
    for each in parameters:
        if each.name in ("self", "cls"):
            continue
        if each.kind is each.VAR_POSITIONAL:
            starred = True
        if each.kind is each.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        shown.append(_parameter(each))
    returned = inspect.signature(function).return_annotation
    end = "" if returned is inspect.Signature.empty else f" -> {returned}"
    if len(shown) < 4:
        return f"{name}({', '.join(shown)}){end}"
    return "\n    ".join([f"{name}(", *(f"{each}," for each in shown)]) + f"\n){end}"


def _parameter(each):
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    annotation = "" if each.annotation is each.empty else f": {each.annotation}"
    return f"{stars}{each.name}{annotation}{_default(each)}"


def _default(each):
    if each.default is each.empty:
        return ""
    plain = str(each.default) if isinstance(each.default, enum.Enum) else each.default
    return f" = {plain!r}"


def _documented(item):
    """A NumPy docstring as Markdown."""
    text = inspect.cleandoc(item.__doc__ or "")
    head, *sections = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    lines = [head.strip().replace("``", "`")]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        lines += ["", f"**{title}**", "", *_section(title, body.strip("\n"))]
    return "\n".join(lines).strip()


def _section(title, body):
    if title == "Examples":
        return ["```pycon", body.strip(), "```"]
    lines = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            lines.append(
                f"- `{name}`" + (f" ({kind})" if kind else "") if title != "Returns" else f"- {line}"
            )
        elif line.strip():
            begun = lines[-1].startswith("- ")
            lines[-1] += ":" if begun else ""
            lines.append(f"  {line.strip()}".replace("``", "`"))
    return lines
