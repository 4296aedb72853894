"""Format counts, shares, amounts and p-values for readers, and escape text from the data.

Column and group names may contain anything that would act on a terminal or a page: cursor escapes, line ends,
bidirectional controls. Letters, accents, joined emoji and right-to-left scripts stay.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import islice, pairwise
from pathlib import PurePath
from typing import Concatenate, Final, ParamSpec, TypeVar


def short_names(names: Sequence[str]) -> list[str]:
    """Return file names without their folders, unless two would be equal.

    Examples
    --------
    >>> short_names(["new/b.json", "c.json"]), short_names(["new/b.json", "old/b.json"])
    (['b.json', 'c.json'], ['new/b.json', 'old/b.json'])
    """
    short = [PurePath(name).name or name for name in names]
    return short if len(set(short)) == len(names) else list(names)


Number = TypeVar("Number", bound=float)
Others = ParamSpec("Others")


def or_dash(
    form: Callable[Concatenate[Number, Others], str],
) -> Callable[Concatenate[Number | None, Others], str]:
    """Let a format write "-" for what is undefined."""

    @wraps(form)
    def written(value: Number | None, /, *others: Others.args, **more: Others.kwargs) -> str:
        return "-" if value is None else form(value, *others, **more)

    return written


@or_dash
def formatted(value: float, form: str) -> str:
    """Format a number as a format string says; "-" if undefined.

    Examples
    --------
    >>> formatted(0.25, ".3f"), formatted(None, ".3f")
    ('0.250', '-')
    """
    return f"{value:{form}}"


@or_dash
def probability(value: float) -> str:
    """Format a score, or a mean of scores, with three decimals, or two digits near 0; "-" if undefined.

    Examples
    --------
    >>> probability(0.5), probability(0.00123), probability(None)
    ('0.500', '0.0012', '-')
    """
    return f"{value:.2g}" if 0 < value < 0.01 else f"{value:.3f}"


@or_dash
def percent(value: float, digits: int | None = None) -> str:
    """Format a rate: two significant digits, near 1 of what is missing; "-" if undefined.

    Examples
    --------
    >>> percent(0.1725), percent(0.0456), percent(0.99943), percent(0.000123), percent(None)
    ('17 %', '4.6 %', '99.943 %', '0.012 %', '-')
    """
    return f"{percents(value)[0] if digits is None else f'{100 * value:.{digits}f}'} %"


def percents(*values: float) -> list[str]:
    """Format rates that a sentence compares, in percent without the sign, so that they differ as they do.

    Each has two significant digits (near 1, if it is alone, of what is missing), and as many more as show its
    difference from the next one within two fifths. If one from 10 % on needs a decimal, the others have
    one as well.

    Examples
    --------
    >>> percents(0.7, 0.62), percents(0.0065, 0.014), percents(0.103, 0.098), percents(0.9997, 1)
    (['70', '62'], ['0.65', '1.4'], ['10.3', '9.8'], ['99.97', '100'])
    >>> percents(0.2026, 0.1852, 0.2208)
    ['20.3', '18.5', '22.1']
    """
    ascending = sorted({*values})
    if len(ascending) == 1:
        return [_percent_text(ascending[0], decimals_of_percent(ascending[0]))] * len(values)
    decimals = {value: 0 if value > _NEARLY_ALL else decimals_of_percent(value) for value in ascending}
    for low, high in pairwise(ascending):
        told = _decimals_apart(low, high, (decimals[low], decimals[high]))
        decimals |= {value: max(told, decimals[value]) for value in (low, high)}
    whole = [value for value in ascending if decimals_of_percent(value) == 0 and value <= _NEARLY_ALL]
    if max((decimals[value] for value in whole), default=0) == 1:  # more would be false precision elsewhere
        decimals |= dict.fromkeys(whole, 1)
    return [_percent_text(value, decimals[value]) for value in values]


def _decimals_apart(low: float, high: float, own: tuple[int, int]) -> int:
    """Return the decimals from which on two percentages differ as their rates do, within two fifths."""
    difference = 100 * (high - low)
    for decimals in range(_MOST_DECIMALS):
        texts = (
            _percent_text(rate, max(decimals, least)) for rate, least in zip((low, high), own, strict=True)
        )
        first, second = map(float, texts)
        if abs(second - first - difference) <= 0.4 * difference:
            return decimals
    return _MOST_DECIMALS


_MOST_DECIMALS: Final = 12


def _percent_text(value: float, decimals: int) -> str:
    text = f"{100 * value:.{decimals}f}"
    # digits of what is missing to 100 end where it ends
    return text.rstrip("0").rstrip(".") if value > _NEARLY_ALL and decimals else text


_NEARLY_ALL: Final = 0.985
"""Rate from which on two digits would be 99 or 100 %."""


def decimals_of_percent(value: float) -> int:
    """Return the decimals of a percentage: two significant digits, near 1 of what is missing."""
    if min(abs(value), abs(1 - value)) < 1e-9 or 0.0995 <= value <= _NEARLY_ALL or value > 1:
        return 0
    rest = 1 - value if value > _NEARLY_ALL else abs(value)
    return 1 - math.floor(math.log10(100 * rest))


def points(difference: float, low: float | None = None, high: float | None = None) -> str:
    """Format a difference of two rates in percentage points, with its range if it has one.

    Examples
    --------
    >>> points(0.0503), points(-0.333, -0.701, 0.137)
    ('+5.0 points', '-33 points [-70, +14]')
    """
    texts = [
        f"{100 * value:+.{decimals_of_percent(abs(value))}f}"
        for value in (difference, low, high)
        if value is not None
    ]
    return f"{texts[0]} points{f' [{texts[1]}, {texts[2]}]' if len(texts) == 3 else ''}"


def in_points(error: float) -> str:
    """Format an error or a deviation of rates in percentage points, with two digits.

    Examples
    --------
    >>> in_points(0.0036), in_points(0.735), in_points(1.0)
    ('0.36 points', '74 points', '100 points')
    """
    return f"{100 * error:.{decimals_of_percent(error)}f} points"


def percent_in_range(value: float | None, low: float | None, high: float | None) -> str:
    """Format a rate with its range for a table; without it if there is none, "-" if undefined.

    Examples
    --------
    >>> percent_in_range(0.5, 0.4, 0.6), percent_in_range(0.5, None, None), percent_in_range(4e-4, 1e-4, 1e-3)
    ('50 % [40, 60]', '50 %', '0.040 % [0.010, 0.10]')
    """
    if value is None or low is None or high is None:
        return percent(value)
    texts = percents(value, low, high)
    return f"{texts[0]} % [{texts[1]}, {texts[2]}]"


def percent_and_range(
    value: float | None,
    low: float | None,
    high: float | None,
    what: str = "",
    *,
    beside: Sequence[float] = (),
) -> str:
    """Format a rate with its range, if it has one, for a sentence that may compare it with others.

    Examples
    --------
    >>> percent_and_range(0.713, 0.683, 0.741), percent_and_range(0.5, 0.4, 0.6, "90 % range ")
    ('71 % (68 to 74 %)', '50 % (90 % range 40 to 60 %)')
    >>> percent_and_range(0.5, None, None), percent_and_range(None, None, None)
    ('50 %', 'undefined')
    """
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{percents(value, *beside)[0]} %"
    texts = percents(value, low, high, *beside)
    return f"{texts[0]} % ({what}{texts[1]} to {texts[2]} %)"


def range_of(low: float | None, high: float | None) -> str:
    """Format a range of a rate; empty if there is none.

    Examples
    --------
    >>> range_of(0.683, 0.741), range_of(None, None)
    ('68 to 74 %', '')
    """
    return "" if low is None or high is None else f"{' to '.join(percents(low, high))} %"


def capitalised(sentence: str) -> str:
    """Begin a sentence with a capital letter, unless its first word is a name, such as that of a file.

    Examples
    --------
    >>> capitalised("the labels are old."), capitalised("new.csv is empty."), capitalised("--top is set.")
    ('The labels are old.', 'new.csv is empty.', '--top is set.')
    """
    first = sentence.partition(" ")[0]
    return f"{sentence[:1].upper()}{sentence[1:]}" if first.isalpha() else sentence


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Format two numbers with three decimals, or as many as tell them apart.

    Examples
    --------
    >>> told_apart(0.5, 0.25), told_apart(0.49281, 0.49289), told_apart(0.5, 0.5)
    (('0.500', '0.250'), ('0.4928', '0.4929'), ('0.500', '0.500'))
    """
    for digits in range(3, 10):
        texts = f"{first:.{digits}f}", f"{second:.{digits}f}"
        if texts[0] != texts[1]:
            return texts
    return f"{first:.3f}", f"{second:.3f}"


def first_of(texts: Sequence[str], most: int) -> str:
    """List the first texts, and the number of the others.

    Examples
    --------
    >>> first_of(["a", "b", "c"], 2), first_of(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{', '.join(texts[:most])}{more}"


def listed(texts: Iterable[str], last_by: str = "and") -> str:
    """List at least one text as a sentence does; ``last_by`` stands before the last one.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    *before, last = texts
    return f"{', '.join(before)} {last_by} {last}" if before else last


ADD_POSITIVES: Final = "check --label, and --positive for labels such as yes"
ADD_NEGATIVES: Final = "add the negative rows, or check --label and --positive"
"""Remedies if all labels are of one kind."""

MOST_NAMED: Final = 4
"""Rules and targets that a sentence names, before it says how many more there are."""


@or_dash
def count(value: int) -> str:
    """Format a count with thousands separators, "-" if there is none."""
    return f"{value:,}"


def rows_of(value: int) -> str:
    """Format a count followed by "row" or "rows".

    Examples
    --------
    >>> rows_of(1), rows_of(14653)
    ('1 row', '14,653 rows')
    """
    return counted(value, "row")


def counted(value: int, noun: str) -> str:
    """Format a count followed by a noun, whose plural ends in s.

    Examples
    --------
    >>> counted(1, "group"), counted(14653, "labelled row")
    ('1 group', '14,653 labelled rows')
    """
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


@or_dash
def money(value: float) -> str:
    """Format an amount with two decimals.

    Examples
    --------
    >>> money(1234.5), money(None)
    ('1,234.50', '-')
    """
    return f"{value:,.2f}"


def rounded_money(value: float) -> str:
    """Format an amount for a sentence: without decimals from 1,000.

    Examples
    --------
    >>> rounded_money(194500.25), rounded_money(12.5)
    ('194,500', '12.50')
    """
    return money(value) if abs(value) < 1000 else f"{value:,.0f}"


def number(value: float) -> str:
    """Format a score or an edge with 6 significant digits."""
    return f"{value:.6g}"


def exact_number(value: float) -> str:
    """Format a threshold with all of its digits: rounded up, it would be another rule.

    Examples
    --------
    >>> exact_number(2 / 3), exact_number(5.0)
    ('0.6666666666666666', '5')
    """
    return repr(float(value)).removesuffix(".0")


def short_number(value: float) -> str:
    """Format a score or an edge with 4 significant digits, for tables in which numbers are compared."""
    return f"{value:.4g}"


def ranges(edges: Sequence[float]) -> list[str]:
    """Describe the ranges between sorted edges, with 4 significant digits or as many as tell them apart.

    Examples
    --------
    >>> ranges([0.5, 2]), ranges([])
    (['below 0.5', '0.5 to below 2', '2 and above'], ['all'])
    >>> ranges([1 / 3, 0.33333334])[1]
    '0.333333333 to below 0.33333334'
    """
    if not edges:
        return ["all"]
    for digits in (4, 6, 9, 17):  # 17 tell all doubles apart
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(set(edges)):
            break
    between = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} and above"]


def p_text(value: float | None, *, is_least: bool = False) -> str:
    """Format a p-value with its "p"; digits below 0.0001 carry no information.

    ``is_least`` is whether it is the least one that the number of random draws allows.

    Examples
    --------
    >>> p_text(0.0123), p_text(8.76e-43), p_text(None), p_text(0.01, is_least=True)
    ('p = 0.0123', 'p < 0.0001', 'p undefined', 'p <= 0.01')
    """
    if value is None:
        return "p undefined"
    return "p < 0.0001" if value < 0.0001 else f"p {'<=' if is_least else '='} {value:.3g}"


@or_dash
def p_cell(value: float, *, is_least: bool) -> str:
    """Format a p-value for a table (see ``p_text``)."""
    return f"{'<= ' if is_least else ''}{value:.3g}"


_ACTING_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats, surrogates, line and paragraph separators."""

_JOINERS: Final = "\u200c\u200d"
"""Format characters needed to spell Persian and Indic words and emoji."""


def visible(text: str) -> str:
    r"""Replace each acting character by its escape, also the first of a command for a CI runner.

    Examples
    --------
    >>> visible("\x1b[31mred\n"), visible("naïve [/eu] 🎉"), visible("##[error]x")
    ('\\x1b[31mred\\n', 'naïve [/eu] 🎉', '\\x23#[error]x')
    """
    if "##" in text:
        text = RUNNER_COMMAND.sub(r"\\x23#", text)
    if text.isprintable():
        return text
    return "".join(_escaped(character) if is_acting(character) else character for character in text)


RUNNER_COMMAND: Final = re.compile(r"##(?=(?:vso|teamcity)?\[)")
"""Signs that make the rest of a line, wherever they stand, a command for a CI runner."""

_LONGEST_RUN: Final = 1000
"""Characters of a name or a path in a text; of longer ones the middle is left out."""

_LONGEST_TEXT: Final = 4000
_LONG_RUN: Final = re.compile(rf"(?<!\S)\S{{{_LONGEST_RUN + 1},}}")


def shortened(text: str) -> str:
    """Leave out the middle of runs without white space that are too long to be read, and of a whole text.

    Examples
    --------
    >>> len(shortened("column " + "x" * 10**6 + " is empty")), len(shortened("x " * 10**6))
    (1016, 4000)
    """
    if len(text) <= _LONGEST_RUN:
        return text
    return _without_middle(
        _LONG_RUN.sub(lambda run: _without_middle(run[0], _LONGEST_RUN), text), _LONGEST_TEXT
    )


def _without_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    kept = most - 3
    return f"{text[: kept - kept // 2]}...{text[-(kept // 2) :]}"


def in_one_line(text: str) -> str:
    """Write a sentence with names and values from outside in one line: short, visible, without secrets."""
    lines = filter(None, map(str.strip, re.split(r"[\r\n]+", text)))
    return visible(shortened(without_secrets(" ".join(lines))))


def without_secrets(text: str) -> str:
    """Remove users, passwords, signed queries and tokens from addresses in a text.

    It takes time in proportion to the text, which may be a header of megabytes.

    Examples
    --------
    >>> without_secrets("cannot read 'https://me:secret@host/a.csv?sign=1'; sc://host:1/;token=2")
    "cannot read 'https://host/a.csv'; sc://host:1/"
    >>> without_secrets("'https:/me:secret@host/a.csv', 'me:secret@host:/a.csv'")
    "'https:/host/a.csv', 'host:/a.csv'"
    """
    if ":/" not in text:
        return text
    return _WORD.sub(lambda word: _word_without_secrets(word[0]), text)


_WORD: Final = re.compile(r"[^\s'\"]+")
_USER: Final = re.compile(r"(?<=[a-z0-9+.-])(:/+)[^/]*@", re.IGNORECASE)
"""User before a host, also if a slash is missing."""

_SCP_USER: Final = re.compile(r"(?<![^/@])[^/@:]+:[^/@]*@(?=[\w.-]+:/)")
_ASSIGNMENT: Final = re.compile(r"[?#;][^?#;]*=.*", re.DOTALL)


def _word_without_secrets(word: str) -> str:
    word = _without_slashed_secret(_SCP_USER.sub("", _USER.sub(r"\1", word)))
    for scheme, ends in (("http://", "?#"), ("https://", "?#"), ("sc://", ";")):
        start = word.lower().find(scheme)
        ending = [place for end in ends if start >= 0 and (place := word.find(end, start)) >= 0]
        if ending:
            word = word[: min(ending)]
    return _ASSIGNMENT.sub("", word)


def _without_slashed_secret(word: str) -> str:
    """Remove a user and a password that contains a slash: more than a port follows the host's colon."""
    last = word.rfind("@")
    start = 0
    while (start := word.find("://", start)) >= 0 and start < last:
        start += 3
        authority = word[start : end if (end := word.find("/", start)) >= 0 else len(word)]
        _, colon, rest = authority.partition(":")
        if colon and not rest.isdecimal() and rest:
            return word[:start] + word[last + 1 :]
    return word


_LONGEST_COMPARED, _MOST_COMPARED = 100, 10_000
"""Characters of a name, and names, that are compared: the comparison takes the square of the first."""


def similar_names(name: str, names: Iterable[str], *, most: int = 3, cutoff: float = 0.75) -> list[str]:
    """Return the names that may be meant by one, nearest first; none for a name that nobody types.

    Examples
    --------
    >>> similar_names("scoer", ["label", "score"]), similar_names("x" * 10**6, ["x" * 10**6])
    (['score'], [])
    """
    import difflib  # which few runs need

    if len(name) > _LONGEST_COMPARED:
        return []
    compared = [known for known in islice(names, _MOST_COMPARED) if len(known) <= _LONGEST_COMPARED]
    return difflib.get_close_matches(name, compared, n=most, cutoff=cutoff)


def is_acting(character: str) -> bool:
    """Whether a character has an effect other than being displayed."""
    if character in _JOINERS:
        return False
    code_point = ord(character)
    no_character = code_point & 0xFFFE == 0xFFFE or 0xFDD0 <= code_point <= 0xFDEF
    return no_character or unicodedata.category(character) in _ACTING_CATEGORIES


def _escaped(character: str) -> str:
    code_point = ord(character)
    if code_point <= 0xFF:
        return repr(character)[1:-1] if code_point < 0x80 else f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point <= 0xFFFF else f"\\U{code_point:08x}"


def printable(text: str, max_length: int = 60) -> str:
    r"""Escape and shorten a name from the data, so that it breaks no line or figure.

    Examples
    --------
    >>> printable("two\nlines"), printable("x" * 9, max_length=6)
    ('two\\nlines', 'xxx...')
    """
    escaped = visible(text)
    return escaped if len(escaped) <= max_length else f"{escaped[: max_length - 3]}..."
