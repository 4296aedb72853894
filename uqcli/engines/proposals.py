"""Propose the options that read inputs as they are written, from what their first rows show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from uqcli.base.choices import OnInvalid
from uqcli.base.defaults import DECIMAL
from uqcli.base.records import dataclass
from uqcli.base.wording import first_of, printable
from uqcli.engines.columns import is_index, usually_named
from uqcli.engines.notation import Form, decimal_of
from uqcli.engines.protocol import Columns
from uqcli.engines.request import DataRequest

_MOST_NAMED: Final = 3

_DELIMITERS: Final[Mapping[str, str]] = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
"""Field separators that are said, by their names."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Options for inputs, and what they rest on.

    Attributes
    ----------
    options
        Values by the name of the option; several of an option that is repeated.
    others
        Further columns that could have the role, by role.
    findings
        What the inputs show, in words.
    """

    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[str, ...] = ()


def proposal(columns: Columns, data: DataRequest, named: Collection[str]) -> Proposal:
    """Propose options that the user has not ``named``; the roles of the request have the default names."""
    candidates = {
        role: _candidates(columns, role)
        for role, default in _defaults(data).items()
        if role not in named and default not in columns.names
    }
    score, label = (_chosen(data, candidates, role) for role in ("score", "label"))
    read = [name for name in dict.fromkeys((*data.roles.columns(), score, label)) if name in columns.names]
    proposed = {
        **{role: names[:1] for role, names in candidates.items()},
        "decimal": _decimal(columns, data, read),
        "null_value": _null_texts(columns, data, label, named),
        "positive": _positive(columns, data, label),
        "on_invalid": _on_invalid(columns, data, read),
    }
    given = {"decimal", "positive", "on_invalid"}.intersection(named)  # further null values are of use
    return Proposal(
        options={name: values for name, values in proposed.items() if values and name not in given},
        others={role: names[1:] for role, names in candidates.items() if len(names) > 1},
        findings=tuple(_findings(columns, data, read)),
    )


def _decimal(columns: Columns, data: DataRequest, read: Sequence[str]) -> tuple[str, ...]:
    """Return the decimal mark of the columns that are read, else that of all, if it is not the usual one."""
    if "decimal" not in columns.settings or data.read.decimal != DECIMAL:
        return ()
    forms = columns.forms
    mark = decimal_of([forms[name] for name in read if name in forms]) or decimal_of(forms.values())
    return (mark,) if mark not in ("", DECIMAL) else ()


def _null_texts(columns: Columns, data: DataRequest, label: str, named: Collection[str]) -> tuple[str, ...]:
    """Return the texts for missing values; those of a label whose positive value was given may be labels."""
    if "null_value" not in columns.settings:
        return ()
    is_text = "positive" in named or data.positive_value is not None
    return _nulls({name: form for name, form in columns.forms.items() if not (is_text and name == label)})


def _positive(columns: Columns, data: DataRequest, label: str) -> tuple[str, ...]:
    """Return the positive one of the label's two texts, unless it was given or labels are classes."""
    if label not in columns.forms or data.positive_value is not None or data.roles.class_columns:
        return ()
    return columns.forms[label].labels[:1]


def _on_invalid(columns: Columns, data: DataRequest, read: Sequence[str]) -> tuple[str, ...]:
    """Return that rows are dropped where values that are read are missing, which would be an error."""
    is_refused = data.on_invalid is OnInvalid.ERROR and bool(columns.missing.intersection(read))
    return (str(OnInvalid.DROP),) if is_refused else ()


def with_options(data: DataRequest, options: Mapping[str, tuple[str, ...]]) -> DataRequest:
    """Return the request as it is with proposed options of columns and of reading."""
    numbers = dict(data.roles.numbers)
    if "score" in options:
        (numbers["score"],) = options["score"]
    (label,) = options.get("label", (data.roles.label,))
    (positive,) = options.get("positive", (data.positive_value,))
    (decimal,) = options.get("decimal", (data.read.decimal,))
    nulls = (*data.read.null_values, *options.get("null_value", ()))
    return replace(
        data,
        roles=replace(data.roles, numbers=numbers, label=label),
        positive_value=positive,
        read=replace(data.read, decimal=decimal, null_values=nulls),
    )


def _defaults(data: DataRequest) -> dict[str, str]:
    """Return the columns of the score and of labels that are in the inputs, as far as they are read."""
    defaults = {"score": data.roles.numbers.get("score"), "label": data.roles.label}
    if data.labels is not None:
        del defaults["label"]
    return {role: name for role, name in defaults.items() if name is not None}


def _chosen(data: DataRequest, candidates: Mapping[str, Sequence[str]], role: str) -> str:
    """Return the column of a role that is read, or proposed; empty if there is none."""
    return (
        next(iter(candidates.get(role, ())), _defaults(data).get(role, "")) if role in _defaults(data) else ""
    )


def _candidates(columns: Columns, role: str) -> tuple[str, ...]:
    """Return the columns that can have a role, the most usual first: by name, else the only one by values."""
    fitting = columns.numeric if role == "score" else columns.binary
    by_name = usually_named(columns.names, role)
    if by_name:
        return tuple(name for name in by_name if name in fitting) or tuple(by_name)
    by_values = [
        name for name in (columns.shares if role == "score" else columns.binary) if not is_index(name)
    ]
    return tuple(by_values) if len(by_values) == 1 else ()


def _findings(columns: Columns, data: DataRequest, read: Sequence[str]) -> list[str]:
    """Say how the inputs are written, as far as it is not the usual way."""
    forms, found = columns.forms, list[str]()
    if columns.delimiter in _DELIMITERS:
        found.append(f"{_DELIMITERS[columns.delimiter]} between fields")
    found += _listed("decimal commas in", [name for name, form in forms.items() if form.decimal == ","])
    found += _listed("percent signs in", [name for name, form in forms.items() if form.percent])
    for name, form in forms.items():
        if form.labels and (data.roles.label in (None, name) or name in read):
            found.append(f"labels {' and '.join(map(_quoted, form.labels))} in {_quoted(name)}")
    for kind, words in (("dates", "dates such as"), ("unclear dates", "dates of unclear order such as")):
        written = {name: form for name, form in forms.items() if form.kind == kind and not _is_usual(form)}
        for name, form in list(written.items())[:_MOST_NAMED]:
            found.append(f"{words} {printable(form.example, 24)} in {_quoted(name)}")
    found += _listed("missing values written", _nulls(forms))
    empty = [name for name in read if name in columns.missing and not (name in forms and forms[name].nulls)]
    found += _listed("missing values in", empty)
    found += _listed("row numbers in", [name for name in columns.names if is_index(name)])
    return found


def _nulls(forms: Mapping[str, Form]) -> tuple[str, ...]:
    """Return the texts by which columns of numbers, dates and labels say that there is no value."""
    known = (form for form in forms.values() if form.kind not in ("texts", "nothing"))
    return tuple(dict.fromkeys(null for form in known for null in form.nulls))


def _is_usual(form: Form) -> bool:
    """Whether a date begins with the year, which every program writes."""
    return form.example[:4].isdigit()


def _listed(words: str, names: Sequence[str]) -> list[str]:
    return [f"{words} {first_of([_quoted(name) for name in names], _MOST_NAMED)}"] if names else []


def _quoted(text: str) -> str:
    return f"'{printable(text, 24)}'" if text else "the column without a name"
