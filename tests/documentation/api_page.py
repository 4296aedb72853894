"""Makes the page of the Python API from signatures and docstrings."""

import enum
import inspect
import re
from functools import cached_property

from uqcli.base import errors
from uqcli.calls import Result, Rule, positional
from uqcli.jobs.declared import COMMANDS, declaration_of

HEAD = """# Python API

`from uqcli import commands as uq` has every command as a function: `uq.boundary(rows, precision=0.9)`. [Use
uqcli from Python](../how-to/python.md) has an example, and the options of each are on the page of
[commands](commands.md). `make reference` writes this page and the types of the functions from the
declarations.

- **Rows** are a data frame of polars, pandas, pyarrow or another library, lazy ones too; a mapping of names
  to arrays; a path or an address; or a list of these. Options that name files of rows, such as `target=`
  and `pilot=`, take the same.
- **Rules** are a path, a `Rule`, or the result of the run that made it, also for options such as `shift=`
  and `calibrator=`.
- **Options** are keywords: a number or a text, a list where the command line has commas (`score=["a",
  "b"]`), true or false for those without a value. `uq.NAME?` in a notebook shows them with their help, as
  `help(uq.NAME)` does.
- No configuration file and no variable `UQCLI_...` is read, and nothing is printed.
- `json`, `quiet`, `threads`, `memory` and others about a process or its terminal are not taken.

The functions of 0.4 for arrays, such as `uqcli.find_boundary`, go on working. They say that they are
deprecated.

## Functions

"""
CLASSES = (Result, Rule)


def api_page():
    """Describe the functions, what they return, and errors."""
    lines = [HEAD + "```python"]
    for name in sorted(COMMANDS):
        given = ", ".join(each.name for each in positional(declaration_of(name)))
        lines.append(f"uq.{name}({given}, **options) -> Result")
    lines += ["uq.load(path) -> Rule", "```", "", "## Results", ""]
    for item in CLASSES:
        lines += [*_entry(item.__name__, item), ""]
    lines += ["## Errors", ""]
    for item in vars(errors).values():
        if inspect.isclass(item) and issubclass(item, errors.UqcliError):
            lines += [*_entry(item.__name__, item), ""]
    return "\n".join(lines)


def _entry(name, item):
    yield f"### `{name}`"
    yield ""
    yield _documented(item)
    if item in CLASSES:
        for member, value in vars(item).items():
            if not member.startswith("_") and (
                isinstance(value, property | cached_property) or inspect.isfunction(value)
            ):
                yield from ("", *_member(name, member, value))


def _member(owner, name, value):
    if isinstance(value, property | cached_property):
        yield f"#### `{owner}.{name}`"
        documented = value.fget if isinstance(value, property) else value.func
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
