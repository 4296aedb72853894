"""What every engine says of rows that cannot be used, in the same words."""

from __future__ import annotations

from uqcli.defaults import MOST_ROWS
from uqcli.errors import DataError


def no_rows(dropped: int) -> DataError:
    """Nothing is left once so many rows were dropped."""
    said = f" ({dropped} were dropped)" if dropped else ""
    return DataError(f"no rows to work on{said}", expected="at least one row of data")


def unlabelled(rows: int) -> str:
    """What to know where rows without a label were left out."""
    said = "1 row has" if rows == 1 else f"{rows:,} rows have"
    return f"{said} no label; results describe labelled rows only."


def no_weight() -> DataError:
    """All rows weigh nothing."""
    return DataError("every row has weight 0", expected="a positive weight in some row")


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
        remedy="check that the file was written to its end"
        if cut
        else "fix the rows, or leave them out with --on-invalid drop",
    )


def unnormalised(found: str) -> DataError:
    """Class probabilities do not add up to 1, as ``found`` says."""
    return DataError(found, expected="1 in every row", remedy="give the columns of all classes with --proba")


def no_counts_of_rows(found: str) -> DataError:
    """Weights are negative or no integers, as ``found`` says."""
    return DataError(
        found,
        expected="non-negative integers",
        remedy="a weight of 2 means the row twice; tests and intervals count rows, but ece, ace, "
        "mce, brier and log_loss only need weights in proportion: multiply and round them",
    )


def too_heavy(column: str) -> DataError:
    """Weights add up to more rows than can be counted."""
    return DataError(
        f"column '{column}' adds up to more than {MOST_ROWS}",
        expected="fewer rows by weight",
        remedy="divide the weights by a common factor",
    )


def inputs_changed() -> DataError:
    """A second reading found other rows than the first."""
    return DataError(
        "the inputs changed while they were read", expected="files that nobody writes to meanwhile"
    )
