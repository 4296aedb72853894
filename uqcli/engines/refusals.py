"""Errors for unusable rows, the same for every engine."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, Final

from uqcli.base import defaults
from uqcli.base.errors import DataError, UsageError, Words, words
from uqcli.base.running.memory import allowed_bytes, require_allowed
from uqcli.base.wording import printable
from uqcli.engines.request import DataRequest, LabelsFile

TRUNCATED_REMEDY: Final = "check that the file was written completely"


class NoRowsError(DataError):
    """No row is left after dropping."""


class FormError(DataError):
    """Columns or values that other options may read: another name, delimiter, decimal mark, label or null.

    ``requests`` are those that met it, the innermost first; none if nobody can look at the inputs again.
    """

    def __init__(self, found: Words, *, expected: Words = "", remedy: Words = "") -> None:
        super().__init__(found, expected=expected, remedy=remedy)
        self.requests: list[DataRequest] = []


class NoDayError(FormError):
    """A text in a column of days that names none."""


@contextmanager
def collected(errors: list[FormError]) -> Iterator[None]:
    """Keep the error of a column, so that all columns with unreadable values are named at once."""
    try:
        yield
    except FormError as error:
        errors.append(error)


def joined(errors: Sequence[FormError]) -> FormError:
    """Create the error for several problems of the same rows."""
    if len(errors) == 1:
        return errors[0]
    found, expected, remedy = (
        dict.fromkeys(filter(None, texts)) for texts in zip(*(error.words for error in errors), strict=True)
    )
    return FormError(
        words(", and ".join("{}" for _ in found), *found),
        expected=words(" and ".join("{}" for _ in expected), *expected),
        remedy=words("; ".join("{}" for _ in remedy), *remedy),
    )


def footer(text: str, location: str) -> DataError:
    """Create the error for a line that a program wrote after the rows."""
    return DataError(
        f"{location} is no row, but the last line '{text}' of the program that wrote the file",
        expected="rows only",
        remedy="remove the line",
    )


_WITH_COMMA: Final = re.compile(r"[+-]?\d*,\d+")
_IN_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""Number whose comma may as well separate thousands."""

_WITH_POINT: Final = re.compile(r"[+-]?\d*\.\d+")


def as_missing(text: str) -> tuple[str, ...]:
    """Say how a text is read as a missing value."""
    return words("if '{}' means a missing value, add it with --null-value", printable(text, 24))


def number_advice(column: str, texts: Sequence[str], decimal: str) -> tuple[str, Words]:
    """Return what was expected in place of texts that are no numbers, and the remedy if the texts show one.

    ``decimal`` is the decimal mark of the input; empty if ``--decimal`` does not apply to it.
    """
    if set(texts) == {column}:
        return "rows only", "remove the line, which repeats the column names"
    others = [text for text in texts if not any(map(str.isdigit, text))]
    if 0 < len(others) < len(texts):  # numbers in another form, and texts that are none in any
        numbers = [text for text in texts if text not in others]
        expected, remedy = number_advice(column, numbers, decimal)
        missing = as_missing(others[0])
        return expected, words("{}; {}", remedy, missing) if remedy else missing
    texts = [text.removesuffix("%").rstrip() for text in texts]  # a number with this sign is a hundredth
    if decimal == "," and all(map(_WITH_POINT.fullmatch, texts)):
        text = texts[0]
        remedy = words("leave out --decimal if the decimal mark is a point")
        if all(map(_IN_THOUSANDS.fullmatch, (text.replace(".", ",") for text in texts))):
            plainly = text.replace(".", "")
            remedy = words("write {} for {}, or leave out --decimal if it is {}", plainly, text, text)
        return "a number with a decimal comma", remedy
    if all(map(_IN_THOUSANDS.fullmatch, texts)):
        with_point = texts[0].replace(",", ".")
        other = words(', or give --decimal "," if it is {}', with_point) if decimal else ""
        plainly = texts[0].replace(",", "")
        return "a number without separators", words("write {} for {}{}", plainly, texts[0], other)
    if all(map(_WITH_COMMA.fullmatch, texts)):
        remedy = "write 0.5 for 0,5"
        with_option = words('give --decimal ",", or {}', remedy)
        return "a number with a decimal point", with_option if decimal else remedy
    plain = [_plain(text, decimal or ".") for text in texts]
    return "a number", f"write {plain[0]} for {texts[0]}" if all(plain) else ""


def _plain(text: str, decimal: str) -> str:
    """Return the number that a text with other signs in it shows; empty if it shows none."""
    thousands = "," if decimal == "." else "."
    number = "".join(str(unicodedata.digit(sign, sign)) for sign in text).replace("\u2212", "-")
    number = _DECORATION.sub("", number)
    if number.startswith("(") and number.endswith(")"):  # as accountants write
        number = f"-{number[1:-1]}"
    if _GROUPED[decimal].fullmatch(number):
        number = number.replace(thousands, "")
    number = _FORTRAN.sub("E", number)
    return number if number.isascii() and _NUMBER[decimal].fullmatch(number) else ""


_DECORATION: Final = re.compile(r"^[A-Z]{3}(?=[\s\d])|(?<=\d)\s*[A-Z]{3}$|[$€£¥₹'`’_\s]")
"""Codes and signs of currencies, and signs between groups of digits."""

_FORTRAN: Final = re.compile(r"(?<=\d|[.])[dD](?=[+-]?\d)")
_GROUPED: Final = {
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?"),
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?"),
}
_NUMBER: Final = {
    ".": re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?"),
}


def require_days(texts: Iterable[str], column: str) -> None:
    """Refuse texts that are no days."""
    for text in texts:
        try:
            date.fromisoformat(text)
        except ValueError as error:
            raise NoDayError(
                f"column '{column}' has '{text}'",
                expected="dates such as 2026-03-31, 31.03.2026 or 31-Mar-2026",
                remedy=words("convert the column, or give --cluster for other values"),
            ) from error


_BYTES_PER_CLUSTER: Final = 350
"""Memory of a cluster: of its text and key, its places in two tables of numbers, and its sums."""

_BYTES_MET: Final = 175
"""What it has taken of that once its rows are read."""

_FEW_CLUSTERS: Final = 1 << 17
"""Clusters that fit into the memory of any run."""


def require_memory_of_clusters(
    column: str, clusters: int, rows: int, expected_rows: Callable[[], int | None]
) -> None:
    """Refuse clusters that need more memory than they may take, as soon as so many are met.

    They are those of the first rows. ``expected_rows`` returns the number of all rows, None if unknown.
    """
    taken = clusters * _BYTES_MET
    if clusters <= _FEW_CLUSTERS or clusters * _BYTES_PER_CLUSTER <= allowed_bytes(taken):
        return
    all_rows = expected_rows()
    require_allowed(
        int(_BYTES_PER_CLUSTER * distinct_expected(clusters, rows, max(rows, all_rows or 0))),
        f"column '{column}' has {clusters:,} values in the first {rows:,} rows: for the sums by each value, "
        "all rows take",
        "check that the column names what rows depend on",
        at_least=all_rows is None,
        taken=taken,
    )


def distinct_expected(distinct: int, rows: int, all_rows: int) -> float:
    """Estimate the distinct values of all rows from those of the first rows, if all are as frequent.

    Of v values, ``n`` rows are expected to have ``v * (1 - exp(-n / v))``.

    >>> distinct_expected(10, 10, 50), round(distinct_expected(632, 1000, 2000))
    (50.0, 864)
    """
    if distinct >= rows:
        return float(all_rows)
    low, high = float(distinct), float(rows) ** 2
    for _ in range(100):
        middle = (low + high) / 2
        met = -middle * math.expm1(-rows / middle)
        low, high = (middle, high) if met < distinct else (low, middle)
    return -high * math.expm1(-all_rows / high)


def require_few_texts(texts: int, most: int, column: str) -> None:
    """Refuse more texts of a key than a cluster's driver should collect."""
    if texts > most:
        raise DataError(
            f"column '{column}' has more than {most:,} groups",
            expected="fewer groups on a cluster",
            remedy="check that this column names groups",
        )


def no_rows(dropped: int) -> NoRowsError:
    """Create the error if no row is left after dropping."""
    dropped_rows = f" ({dropped} were dropped)" if dropped else ""
    return NoRowsError(f"no rows to work on{dropped_rows}", expected="at least one row of data")


def unlabelled(rows: int) -> str:
    """Note that rows without a label were dropped."""
    subject = "1 row has" if rows == 1 else f"{rows:,} rows have"
    return f"{subject} no label: results are valid only for rows like the labelled ones."


def repeated_ids(labels: LabelsFile, rows: int, example: str | None) -> DataError:
    """Create the error for ids that do not name one label."""
    problem = "without an id" if example is None else f"with an id that repeats, such as '{example}'"
    return DataError(
        f"'{labels.file}' has {rows:,} {'row' if rows == 1 else 'rows'} {problem}",
        expected=f"one label for each '{labels.on}'",
        remedy="keep the latest label of each",
    )


def no_match(labels: LabelsFile) -> DataError:
    """Create the error if no label belongs to a row."""
    return DataError(
        f"no '{labels.on}' of the inputs is in '{labels.file}'",
        expected="the same ids, compared as text",
        remedy=words("check --on, and leading zeros: 1 is not 01"),
    )


def unused_labels(labels: LabelsFile, unused: int, shared: int) -> list[str]:
    """Note labels that belong to no row, or to several."""
    sentences = []
    for count, where in ((unused, "to no row"), (shared, "to several rows each")):
        subject, ending = ("1 label", "s") if count == 1 else (f"{count:,} labels", "")
        if count:
            sentences.append(f"{subject} of '{labels.file}' belong{ending} {where}.")
    return sentences


def require_few_groups(groups: int, *columns: str) -> None:
    """Refuse more groups than can have results of their own, as soon as so many are known."""
    if groups > defaults.MAX_GROUPS:
        names = " and ".join(f"'{printable(name)}'" for name in columns)
        raise DataError(
            f"{names} {'make' if len(columns) > 1 else 'has'} more than {defaults.MAX_GROUPS:,} groups",
            expected=f"at most {defaults.MAX_GROUPS:,} groups with results of their own",
            remedy=words(
                "name columns of fewer values; for rows of one customer and the like there is --cluster"
            ),
        )


def no_weight() -> DataError:
    """Create the error if every row has weight 0."""
    return DataError("every row has weight 0", expected="a positive weight in at least one row")


def placeholder(column: str, text: str, positive_value: str) -> str:
    """Caution of labels that count as negative with ``--positive``, but may mean that there is no label."""
    return (
        f"the label '{printable(text)}' in column '{column}' counts as negative, "
        f"as all but '{positive_value}' do. If it means that the label is missing, "
        "write null, or name it with --null-value in CSV."
    )


def no_positive(value: str, column: str) -> DataError:
    """Create the error if the text of --positive never occurs."""
    return DataError(
        f"label '{value}' never appears in column '{column}'",
        expected="the text of the positive label",
        remedy=words("check --positive; if it is right, all rows are negative"),
    )


LABELS_NAMED: Final = 3
"""Most labels that a caution names."""


def without_positive(value: str, column: str, others: Sequence[str]) -> str:
    """Caution that the positive label of the rule never occurs, and name some of the labels that do."""
    names = ", ".join(f"'{printable(other)}'" for other in others)
    return (
        f"no label in column '{column}' is '{printable(value)}', the positive label of the rule: "
        f"all rows count as negative. Labels that occur: {names}. If one of them is positive, name it with "
        "--positive."
    )


def unusable_values(found: str, *, cut: bool = False) -> DataError:
    """Create the error for missing or non-finite values, as ``found`` describes.

    No row may be dropped if the file looks truncated.
    """
    if cut:
        return DataError(found, expected="as many fields as the header in every row", remedy=TRUNCATED_REMEDY)
    return FormError(
        found,
        expected="a usable value in every row",
        remedy=words("fix these rows, or leave them out with --on-invalid drop"),
    )


def unnormalised(found: str, deviation: float) -> DataError:
    """Create the error for class probabilities whose sums differ from 1, by this deviation at most."""
    remedy: Words = words("give the columns of all classes with --proba")
    if deviation < _ROUNDED_SUM:
        remedy = "write more digits, or divide the probabilities of each row by their sum"
    return DataError(found, expected="a sum of 1 in every row", remedy=remedy)


_ROUNDED_SUM: Final = 0.05
"""Sums that are nearer to 1 may be those of rounded probabilities."""


def of_another_type(found: str, expected: str) -> FormError:
    """Create the error for a column whose type cannot be read, as ``found`` describes."""
    return FormError(found, expected=expected, remedy="convert the column, or name another one")


def no_counts_of_rows(found: str) -> FormError:
    """Create the error for negative or non-integer weights, as ``found`` describes."""
    return FormError(
        found,
        expected="non-negative integers",
        remedy="a weight of 2 means two rows; only ece, ace, mce, brier and log_loss allow "
        "weights in proportion, multiplied and rounded",
    )


def is_no_count(weight: Any, floor: Any) -> Any:
    """Whether a finite weight is no number of rows, for numpy and for Spark; ``floor`` is rounded down."""
    return (weight < 0) | (weight != floor) | (weight > 2.0**53)


def too_heavy(column: str) -> DataError:
    """Create the error for a total weight beyond the maximum."""
    return DataError(
        f"column '{column}' adds up to more than {defaults.MAX_ROWS}",
        expected="fewer rows by weight",
        remedy="take a random sample of the rows, with their weights",
    )


def existing_column(name: str) -> UsageError:
    """Create the error for an added column that the input has already."""
    return UsageError(
        f"column '{name}' already exists in the input",
        remedy=words("give --prefix P for another name, or --overwrite to replace the column"),
    )


def inputs_changed() -> DataError:
    """Create the error if a second pass found other rows than the first."""
    return DataError(
        "the inputs changed while they were read",
        expected="files that nobody changes during the run",
        remedy="run it again",
    )
