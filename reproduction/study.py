"""What a study gives: sections of the page, as plain data that can be kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from reproduction.picture import Picture
from reproduction.program import Program

Row = list[str]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One table of the page, one figure, or both.

    Attributes
    ----------
    verdict
        One line on whether it agrees, for the summary; empty: not in the summary.
    """

    title: str
    text: list[str] = field(default_factory=list)
    header: Row = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    verdict: str = ""
    pictures: list[Picture] = field(default_factory=list)

    @classmethod
    def from_kept(cls, kept: dict[str, Any]) -> Sheet:
        """What ``Outcome.kept`` wrote."""
        return cls(**{**kept, "pictures": [Picture(**each) for each in kept.get("pictures", [])]})


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is run.

    Attributes
    ----------
    seeds
        Of studies whose commands are quick.
    few_seeds
        Of the others.
    rows
        Of large simulated files.
    grids
        Numbers of bins, and of bounds, that are tried.
    repetitions
        Of what the library does without a process.
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
    """The page's part of a study, and the times, which are no part of it."""

    sheets: list[Sheet]
    times: list[Row] = field(default_factory=list)

    def kept(self) -> dict[str, Any]:
        """The form kept as JSON."""
        return asdict(self)

    @classmethod
    def from_kept(cls, kept: dict[str, Any]) -> Outcome:
        """What ``kept`` wrote."""
        return cls(sheets=[Sheet.from_kept(each) for each in kept["sheets"]], times=kept["times"])


@dataclass(frozen=True, kw_only=True)
class Study:
    """One part of the work that can be done by itself.

    Attributes
    ----------
    name
        Of its file of results.
    heading
        Of its part of the page.
    run
        From a program in an empty folder, the scale and a printer of progress to the outcome.
    runs_alone
        Whether no other study may run beside it, since it reports times.
    """

    name: str
    heading: str
    run: Callable[[Program, Scale, Callable[[str], None]], Outcome]
    runs_alone: bool = False
