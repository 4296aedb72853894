"""Makes the page of the Python API from signatures and docstrings."""

import enum
import inspect
import re

import uqcli
from uqcli.rules.saved import Saved

HEAD = """# Python API

This page lists the public functions and classes. [Use uqcli from Python](../how-to/python.md) has an example.
An array is a NumPy array, a list, or a column of polars, pandas, pyarrow or another data frame library.
Letters in brackets are [sources](../explanation/sources.md). `make reference` writes this page from the
docstrings.
"""
GROUPS = ("Functions", "Classes", "Choices", "Errors")


def api_page():
    """Describe all public names."""
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
        yield f"{_documented(item)} {', '.join(f'`{choice.value}`' for choice in item)}."
        return
    if inspect.isfunction(item):
        yield from ("```python", _signature(name, item), "```", "")
    yield _documented(item)
    if inspect.isclass(item) and _group_of(item) == "Classes":
        for member, value in _members(item):
            yield from ("", *_member(name, member, value))


def _members(item):
    """List the public methods and properties of a class and of its base classes in uqcli."""
    members = {}
    for base in reversed(item.__mro__):
        if base.__module__.startswith("uqcli") and base is not Saved:
            members |= {key: value for key, value in vars(base).items() if not key.startswith("_")}
    kinds = (property, classmethod, staticmethod)
    return [
        (key, value)
        for key, value in members.items()
        if isinstance(value, kinds) or inspect.isfunction(value)
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
    texts, starred = [], False
    for parameter in parameters:
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        texts.append(_parameter(parameter))
    returned = inspect.signature(function).return_annotation
    end = "" if returned is inspect.Signature.empty else f" -> {returned}"
    if len(texts) < 4:
        return f"{name}({', '.join(texts)}){end}"
    return "\n    ".join([f"{name}(", *(f"{text}," for text in texts)]) + f"\n){end}"


def _parameter(parameter):
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    annotation = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    return f"{stars}{parameter.name}{annotation}{_default(parameter)}"


def _default(parameter):
    if parameter.default is parameter.empty:
        return ""
    default = str(parameter.default) if isinstance(parameter.default, enum.Enum) else parameter.default
    return f" = {default!r}"


def _documented(item):
    """Turn a NumPy docstring into Markdown."""
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
            is_first = lines[-1].startswith("- ")
            lines[-1] += ":" if is_first else ""
            lines.append(f"  {line.strip()}".replace("``", "`"))
    return lines
