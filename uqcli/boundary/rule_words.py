"""Words and tables on what a boundary does, of its report and of its rule file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from uqcli.base.defaults import LOWEST
from uqcli.base.records import dataclass
from uqcli.base.wording import count, exact_number, percent, printable, ranges, rows_of
from uqcli.boundary.certificate_rule import Region
from uqcli.boundary.rule_file import ZONES, Fit, GroupFit, SavedGroup
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.proportion import right_of
from uqcli.reports.document import HeadCard, KeyNumber, Table, Verdict, in_order, key_rate
from uqcli.rules.saved import Source

EXPECTED_RANGE: Final = 0.9
"""Level of the ranges of expected results."""

LABELLED_ROWS: Final = "labelled calibration rows"
ROWS_ARE_PREDICTIONS: Final = "Rows are predictions: a flagged one is accepted, a positive one is right."
PREDICTED_CLASS: Final = "predicted class"
"""Name of the groups of rules of classes."""


@dataclass(frozen=True, kw_only=True)
class RowWords:
    """Words for the rows of a boundary, which may be predictions of classes."""

    flags: str
    rows: str
    flagged: str
    positive: str
    positives: str
    found: str


FLAGGED_ROWS: Final = RowWords(
    flags="Flags", rows="rows", flagged="flagged", positive="positive", positives="positives", found="found"
)
ACCEPTED_PREDICTIONS: Final = RowWords(
    flags="Accepts",
    rows="predictions",
    flagged="accepted",
    positive="right",
    positives="right predictions",
    found="accepted",
)


@dataclass(frozen=True, kw_only=True)
class Holes:
    """Holes of the sentences on a boundary, which the parts of its report and of its rule fill.

    ``flagged`` are the flagged rows, and the rows of which they are a share, with and without a label.
    ``region`` has the scores from which the calibration rows were drawn, None if they are like new rows.
    ``expected`` are precision and recall on new rows; none if not estimated.
    """

    rows: RowWords = FLAGGED_ROWS
    flagged: tuple[int, int] = (0, 0)
    region: Region | None = None
    expected: tuple[Estimate, ...] = ()
    verdict: Verdict = field(default_factory=lambda: Verdict(text="not tested on new rows yet"))


def highest_ranked(top: int) -> str:
    """Name the first rows of a group, of which there is at least one."""
    return "the highest-ranked row" if top == 1 else f"the {count(top)} highest-ranked rows"


def answer(fit: Confusion[int] | Fit, holes: Holes, *, independent: bool = True) -> str:
    """State what a boundary does with the calibration rows, in one sentence.

    Of fewer than ``FEWEST_FLAGGED`` flagged rows it tells how many are right, with the range if rows are
    independent.
    """
    (selected, rows), words = holes.flagged, holes.rows
    if region := holes.region:
        does, positives, taken, side, unknown = "Flags", fit.true_positives, selected, "more", ""
        if region.is_below:
            does, positives, taken = "Drops", fit.positives - positives, rows - selected
            side, unknown = "less", "what the rule flags, nor "
        return (
            f"{does} {count(taken)} of {count(rows)} rows that were drawn from those "
            f"with a score of {exact_number(region.edge)} or {side}; {percent(positives / taken)} of them "
            f"are positive. Such rows do not show {unknown}which share of all positives is found."
        )
    of_rows = f"{count(rows)} {words.rows.removesuffix('s') if rows == 1 else words.rows}"
    flags = f"{words.flags} {count(selected)} of {of_rows} ({percent(selected / rows)})"
    precision, recall = percent(fit.precision), percent(fit.recall)
    if 0 < fit.selected < FEWEST_FLAGGED and fit.recall is not None:
        right = right_of(fit.true_positives, fit.selected, independent=independent)
        are = "is" if fit.zones and fit.zones[0] == 1 else "are"
        sent = f", and {rows_of(fit.zones[0])} {are} sent to review" if fit.zones else ""
        return f"{flags}: {right}; {recall} of all {words.positives} are {words.found}{sent}."
    if fit.zones:
        reviewed, caught = fit.zones
        return (
            f"{flags} and sends {count(reviewed)} ({percent(reviewed / rows)}) to review; {precision} of the "
            f"flagged rows are positive, and {percent(caught / fit.positives)} of all positives are flagged "
            "or reviewed."
        )
    if fit.precision is None or fit.recall is None:
        return f"{flags}."
    if rows > fit.rows:
        ones = f"{precision} of the {words.flagged} ones are {words.positive}"
        recalled = f"{recall} of the {words.positives} are {words.found}"
        return f"{flags}; among labelled rows, {ones}, and {recalled}."
    recalled = f"{recall} of all {words.positives} are {words.found}"
    return f"{flags}; {precision} of them are {words.positive}, and {recalled}."


def boundary_card(fit: Confusion[int] | Fit, holes: Holes, title: str = "") -> HeadCard:
    """Build the head of a page on a boundary.

    The title is the first sentence of the report; empty for what the rule does with the calibration rows.
    """
    (selected, of_rows), words = holes.flagged, holes.rows
    is_few = 0 < fit.selected < FEWEST_FLAGGED
    expected = () if is_few else holes.expected
    where = "on new rows, expected" if expected else "on the calibration set"
    if of_rows > fit.rows and not is_few:
        where = "on rows like the labelled ones"
    precision, recall = expected or (Estimate(value=fit.precision), Estimate(value=fit.recall))
    share, shown = percent(selected / of_rows), f"{count(selected)} of {rows_of(of_rows)}"
    numbers = [
        key_rate(f"precision {where}", precision, EXPECTED_RANGE),
        key_rate(f"{words.positives} {words.found} {where}", recall, EXPECTED_RANGE),
        KeyNumber(label=words.flagged, value=share, interval=shown),
    ]
    if is_few:
        right = f"{count(fit.true_positives)} of {count(fit.selected)}"
        numbers[0] = KeyNumber(label=f"right {where}", value=right, interval="too few to expect a precision")
    if region := holes.region:  # the recall is that of the region alone, and below a score the precision, too
        del numbers[0 if region.is_below else 1 : 2]
    if fit.zones:
        reviewed, caught = fit.zones
        share, shown = percent(reviewed / fit.rows), f"{count(reviewed)} of {rows_of(fit.rows)}"
        alone = f"{percent(fit.true_positives / fit.positives)} by flags alone"
        on_set, caught_share = "positives caught on the calibration set", percent(caught / fit.positives)
        numbers[1:] = [
            KeyNumber(label=on_set, value=caught_share, interval=alone),
            KeyNumber(label="reviewed", value=share, interval=shown),
        ]
    return HeadCard(
        title=title or answer(fit, holes),
        verdict=holes.verdict,
        numbers=numbers,
        subject=f"Rule fitted on {{inputs}}: {rows_of(fit.rows)}, {count(fit.positives)} positive.",
    )


def ranges_by(source: Source) -> str:
    """Return the corner cell of the table of expected results, whose ranges may be by day or cluster."""
    return f"90 % ranges by {source.dependence}" if source.dependence else "90 % ranges"


def threshold_table(
    uncertainty_edges: Sequence[float],
    thresholds: Sequence[float | None],
    review_thresholds: Sequence[float | None] = (),
    *,
    raised: bool = False,
) -> Table:
    """Tabulate the thresholds of each uncertainty bin; with ``hr``, thresholds on raised scores."""
    columns = {"flag when": thresholds}
    if review_thresholds:
        columns["else review when"] = review_thresholds
    cells = ([rule(value, raised=raised) for value in values] for values in columns.values())
    header, rules = tuple(columns), list(zip(*cells, strict=True))
    if len(thresholds) == 1:
        return Table(title="", header=header, rows=rules, left=len(header))
    rows = [(name, *line) for name, line in zip(ranges(uncertainty_edges), rules, strict=True)]
    return Table(title="", header=("uncertainty", *header), rows=rows, left=1 + len(header))


GROUP_HEADER: Final = ("rows", "recall", "precision", "flagged", "flag when")
"""Names of the cells of a group after its name."""


def group_line(
    name: str, fit: Confusion[int] | GroupFit, thresholds: Sequence[float | None]
) -> tuple[str, ...]:
    """Format the results and the rule of a group."""
    counts = count(fit.rows), percent(fit.recall), precision_cell(fit), count(fit.selected)
    return printable(name, 30), *counts, rule_in_short(thresholds)


def precision_cell(fit: Confusion[int] | GroupFit | Fit) -> str:
    """Format the precision for a table: of few flagged rows the number of right ones."""
    if 0 < fit.selected < FEWEST_FLAGGED:
        return f"{fit.true_positives} of {fit.selected}"
    return percent(fit.precision)


def group_thresholds(by: str, groups: Mapping[str, SavedGroup | FittedBoundary]) -> list[Table]:
    """Tabulate the thresholds of groups with several uncertainty bins; empty if there are none."""
    rows = [
        (printable(group, 30), uncertainty, rule(threshold))
        for group in in_order(groups)
        if len(set(groups[group].printed)) > 1
        for uncertainty, threshold in zip(
            ranges(list(groups[group].uncertainty_edges)), groups[group].printed, strict=True
        )
    ]
    header = (by, "uncertainty", "flag when")
    return [Table(title="", header=header, rows=rows, left=3, detail=True)] if rows else []


def rule_in_short(thresholds: Sequence[float | None]) -> str:
    """State a single threshold, or the number of thresholds."""
    if len(set(thresholds)) == 1:
        return rule(thresholds[0])
    return f"{len(thresholds)} thresholds"


def zone_rates(fit: Fit | Confusion[int]) -> dict[str, float | int]:
    """Return the metrics of the zones on a calibration set by key."""
    reviewed, caught = fit.zones or (0, fit.true_positives)
    return {
        "reviewed": reviewed,
        "caught": caught / fit.positives,
        "review_share": reviewed / fit.rows,
        "miss": (fit.positives - caught) / fit.positives,
    }


def zones_table(fit: Fit | Confusion[int]) -> Table:
    """Tabulate the rows and positives of each zone."""
    reviewed, caught = fit.zones or (0, fit.true_positives)
    rows = (fit.selected, reviewed, fit.rows - fit.selected - reviewed)
    hits = (fit.true_positives, caught - fit.true_positives, fit.positives - caught)
    lines = [
        (
            zone,
            f"{count(n)} ({percent(n / fit.rows)})",
            f"{count(p)} ({percent(p / fit.positives)})",
            percent(p / n if n else None),
        )
        for zone, n, p in zip(ZONES, rows, hits, strict=True)
    ]
    return Table(title="", header=("zone", "rows", "positives", "positive rate"), rows=lines)


def recalibration_in_words(coefficient: float, low: float, high: float) -> str:
    """State how scores are raised before they are compared with a threshold (hr)."""
    return (
        f"The raised score is score + {coefficient:g} x the uncertainty, rescaled and clipped so that "
        f"{low:.6g} is 0 and {high:.6g} is 1."
    )


def rule(threshold: float | None, *, raised: bool = False) -> str:
    """State which scores are flagged; ``raised`` means scores that the uncertainty raises (hr)."""
    if threshold is None or threshold == LOWEST:
        return "never" if threshold is None else "always"
    return f"{'raised ' if raised else ''}score >= {exact_number(threshold)}"
