"""Results of a study: sections of the page, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from reproduction.picture import Picture
from reproduction.program import Program

Row = list[str]


class Status(StrEnum):
    """First words of a result in the summary; the verdict gives counts and reasons."""

    EXACT = "exact"
    WITHIN_RANGE = "within range"
    DIFFERS = "differs"
    NOT_POSSIBLE = "not possible"

    @classmethod
    def of(cls, holds: bool) -> Status:
        """Return the status of a claim without printed values."""
        return cls.WITHIN_RANGE if holds else cls.DIFFERS


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table of the page, a figure, or both.

    Attributes
    ----------
    status
        Member of ``Status``: whether our results agree with the paper.
    verdict
        One line for the summary, with counts and reasons; empty if not in the summary.
    """

    title: str
    text: list[str] = field(default_factory=list)
    header: Row = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    status: str = ""
    verdict: str = ""
    pictures: list[Picture] = field(default_factory=list)

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Sheet:
        """Read a sheet that ``Outcome.content`` gave."""
        return cls(**{**content, "pictures": [Picture(**picture) for picture in content.get("pictures", [])]})


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Amount of work of a run.

    Attributes
    ----------
    seeds
        Number of seeds of studies with quick commands.
    few_seeds
        Number of seeds of the other studies.
    rows
        Number of rows of large simulated files.
    grids
        How many numbers of bins, and how many bounds, are tried.
    repetitions
        Number of repetitions in the Python API, without a process.
    """

    seeds: int
    few_seeds: int
    rows: int
    grids: int
    repetitions: int


WHOLE = Scale(seeds=100, few_seeds=20, rows=1_000_000, grids=9, repetitions=500)
QUICK = Scale(seeds=1, few_seeds=1, rows=50_000, grids=1, repetitions=10)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The sheets of a study on the page, and its times, which are on another page below their text."""

    sheets: list[Sheet]
    times: list[Row] = field(default_factory=list)
    text_of_times: str = ""

    def content(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        return asdict(self)

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Outcome:
        """Read an outcome that ``content`` gave."""
        return cls(**{**content, "sheets": [Sheet.from_content(sheet) for sheet in content["sheets"]]})


@dataclass(frozen=True, kw_only=True)
class Study:
    """A part of the reproduction that runs by itself.

    Attributes
    ----------
    name
        Name of its file of results.
    heading
        Heading of its section of the page.
    run
        Function of a program in an empty folder, the scale and a printer of progress; returns the outcome.
    runs_alone
        Whether it runs alone, because it reports times.
    """

    name: str
    heading: str
    run: Callable[[Program, Scale, Callable[[str], None]], Outcome]
    runs_alone: bool = False


def named_once(rows: Sequence[Row], columns: int) -> list[Row]:
    """Leave out the cells of the first columns of a row that the row before has as well."""
    above: list[Row] = [[], *rows]  # the first row has none above it, and there may be no row at all
    return [
        [*[""] * columns, *row[columns:]] if row[:columns] == before[:columns] else list(row)
        for row, before in zip(rows, above, strict=False)
    ]
