"""How people and programs write values: numbers with decimal commas and percent signs, labels, dates, nulls.

Every engine reads a number that a percent sign follows as hundredths, by the patterns here: its point is
moved in the text, so that ``12.3 %`` is the same number as ``0.123``. What the rest of a column means is for
the options to say. The first look proposes them by the forms that are found here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal

from uqcli.base.dates import date_of
from uqcli.base.records import dataclass

BLANKS: Final = r"\t-\r \x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space of Unicode in a class of characters, of which Java's patterns know the part in ASCII alone."""

PERCENT: Final = rf"^([+-]?)((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[{BLANKS}]*%$"
"""A number and a percent sign: the sign of the number, and the rest of it, to which two zeros are put."""

HUNDREDFOLD: Final = r"^([+-]?)([0-9]*)([0-9]{2})\.?([0-9]*)((?:[eE].*)?)$"
"""A number, the last two digits of whose whole part move behind the point."""

NULLS: Final = frozenset(
    {
        *("na", "n/a", "#n/a", "<na>", "n.a.", "n. a.", "nat", "null", "(null)", "none", "nil", "\\n"),
        *("missing", "unknown", "undefined", "pending", "tbd", "?", "-", "--", "."),
        *("k.a.", "k. a.", "keine angabe", "fehlt", "nd", "n.d.", "n/d", "s/d", "s/i", "sem dados"),
    }
)
"""Texts by which people and other programs mean that there is no value, in lower case."""

_YES: Final = (
    *("yes", "y", "true", "t", "ja", "j", "wahr", "oui", "o", "vrai", "sim", "s", "sí", "si", "verdadeiro"),
    *(
        "verdadero",
        "vero",
        "tak",
        "ano",
        "fraud",
        "fraudulent",
        "betrug",
        "fraude",
        "bad",
        "default",
        "churn",
    ),
    *("churned", "spam", "positive", "positiv", "positif", "positivo", "pos", "1"),
)
_NO: Final = (
    *("no", "n", "false", "f", "nein", "falsch", "non", "faux", "não", "nao", "falso", "nie", "ne", "legit"),
    *(
        "legitimate",
        "legal",
        "genuine",
        "normal",
        "ok",
        "good",
        "current",
        "stay",
        "stayed",
        "retained",
        "ham",
    ),
    *("negative", "negativ", "négatif", "negatif", "negativo", "neg", "0"),
)
"""Labels that mean positive and negative, in lower case."""

_NUMBER: Final = {
    ".": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII),
    ",": re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?", re.ASCII),
}
_GROUPED: Final = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", re.ASCII),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?", re.ASCII),
}
"""Numbers with signs between thousands, by the decimal mark."""

_DAY_OR_MONTH: Final = re.compile(
    r"\d{1,2}([/-])\d{1,2}\1\d{2,4}(\D.*)?|\d{1,2}\.\d{1,2}\.\d\d(\D.*)?", re.ASCII
)

Kind = Literal["numbers", "dates", "unclear dates", "labels", "texts", "nothing"]


@dataclass(frozen=True, kw_only=True)
class Form:
    """How the texts of a column are written, by its first rows.

    Attributes
    ----------
    decimal
        Decimal mark of numbers; empty if they are whole, or could have either.
    percent
        Whether some have a percent sign.
    labels
        The two labels, the positive one first; empty for another kind.
    nulls
        Texts that mean that there is no value, as they are written.
    example
        The first text with a value.
    """

    kind: Kind
    decimal: str = ""
    percent: bool = False
    labels: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()
    example: str = ""


def form_of(texts: Collection[str]) -> Form:
    """Find the form of different texts of a column, which are neither empty nor surrounded by blanks.

    Examples
    --------
    >>> form_of(["12,3 %", "n/a"]).decimal, form_of(["ja", "nein"]).labels, form_of(["31.12.2026"]).kind
    (',', ('ja', 'nein'), 'dates')
    """
    nulls = tuple(text for text in texts if text.casefold() in NULLS)
    values = [text for text in texts if text not in nulls and text.casefold() != "nan"]
    if not values:
        return Form(kind="nothing", nulls=nulls)
    example = values[0]
    numbers = [text.removesuffix("%").rstrip() for text in values]
    marks = [mark for mark, pattern in _NUMBER.items() if all(map(pattern.fullmatch, numbers))]
    if marks:
        percent = any(text.endswith("%") for text in values)
        return Form(
            kind="numbers", decimal=_mark(marks, numbers), percent=percent, nulls=nulls, example=example
        )
    if labels := _labels(values):
        return Form(kind="labels", labels=labels, nulls=nulls, example=example)
    kind: Kind = "texts"
    if all(date_of(text) is not None for text in values) and not all(map(str.isdigit, values)):
        kind = "dates"
    elif all(map(_DAY_OR_MONTH.fullmatch, values)):
        kind = "unclear dates"
    return Form(kind=kind, nulls=nulls, example=example)


def _mark(marks: Sequence[str], numbers: Sequence[str]) -> str:
    """Return the decimal mark of numbers; empty if whole, or if the mark may as well separate thousands."""
    if len(marks) > 1:  # neither occurs
        return ""
    (mark,) = marks
    other = "," if mark == "." else "."
    fractions = [number for number in numbers if mark in number]
    return "" if mark == "," and all(map(_GROUPED[other].fullmatch, fractions)) else mark


def _labels(values: Sequence[str]) -> tuple[str, ...]:
    """Return two labels, the positive one first; none if they are others, or those that need no option."""
    folded = {text.casefold(): text for text in values}
    if len(folded) != 2:
        return ()
    yes, no = (next((text for text in folded if text in words), "") for words in (_YES, _NO))
    return (folded[yes], folded[no]) if yes and no and {yes, no} != {"true", "false"} else ()


def decimal_of(forms: Iterable[Form]) -> str:
    """Return the decimal mark of a file by the forms of its columns; empty if nothing shows one."""
    marks = [form.decimal for form in forms if form.decimal]
    return max(marks, key=marks.count) if marks else ""
