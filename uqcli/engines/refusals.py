"""What every engine says of rows that cannot be used, in the same words."""

from __future__ import annotations

from typing import Final

from uqcli.defaults import MOST_ROWS
from uqcli.errors import DataError

CUT: Final = "check that the file was written to its end"


def no_rows(dropped: int) -> DataError:
    """Nothing is left once so many rows were dropped."""
    said = f" ({dropped} were dropped)" if dropped else ""
    return DataError(f"no rows to work on{said}", expected="at least one row of data")


def unlabelled(rows: int) -> str:
    """What to know where rows without a label were left out."""
    said = "1 row has" if rows == 1 else f"{rows:,} rows have"
    return f"{said} no label: results are valid only for rows like the labelled ones."


def no_weight() -> DataError:
    """All rows weigh nothing."""
    return DataError("every row has weight 0", expected="a positive weight in at least one row")


def no_positive(value: str, column: str) -> DataError:
    """The text of --positive is nowhere."""
    return DataError(
        f"label '{value}' never appears in column '{column}'",
        expected="the text of the positive label",
        remedy="check --positive",
    )


def unusable_values(found: str, *, cut: bool = False) -> DataError:
    """Columns have values that are missing or not finite, as ``found`` says.

    Parameters
    ----------
    cut
        Whether this is how a file looks that was not written to its end: then no row may be left out.
    """
    return DataError(
        found,
        expected="a finite value in every row",
        remedy=CUT if cut else "fix these rows, or leave them out with --on-invalid drop",
    )


def unnormalised(found: str) -> DataError:
    """Class probabilities do not add up to 1, as ``found`` says."""
    return DataError(
        found, expected="a sum of 1 in every row", remedy="give the columns of all classes with --proba"
    )


def no_counts_of_rows(found: str) -> DataError:
    """Weights are negative or no integers, as ``found`` says."""
    return DataError(
        found,
        expected="non-negative integers",
        remedy="a weight of 2 means two rows; only ece, ace, mce, brier and log_loss allow "
        "weights in proportion, multiplied and rounded",
    )


def too_heavy(column: str) -> DataError:
    """Weights add up to more rows than can be counted."""
    return DataError(
        f"column '{column}' adds up to more than {MOST_ROWS}",
        expected="fewer rows by weight",
        remedy="take a random sample of the rows, with their weights",
    )


def inputs_changed() -> DataError:
    """A second reading found other rows than the first."""
    return DataError(
        "the inputs changed while they were read", expected="files that nobody changes during the run"
    )
