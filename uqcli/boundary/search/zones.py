"""Three zones: rows below a boundary are reviewed by a person or cleared.

A second boundary below the first separates review from clearance. Review either catches the most positives
within a budget of rows, or as few rows as possible are reviewed such that few positives are missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from uqcli.base.choices import Algorithm, ReviewKind
from uqcli.base.counts import CellRow, Cells, bin_of, no_amounts
from uqcli.base.errors import Opt, UsageError, listed_words, words
from uqcli.base.exact_numbers import MAX_DIGITS, decimal, share_text
from uqcli.base.records import dataclass
from uqcli.boundary.search.goals import TopRuns, Tops, keep_budget, top_runs
from uqcli.boundary.search.knapsack import solve
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import FittedBoundary, boundary_at
from uqcli.estimates.confusion import Rate


@dataclass(frozen=True, kw_only=True)
class ReviewLimit:
    """Limit on the reviewed rows, or on the missed positives, as typed and as an exact number.

    A limit on reviewed rows may be ``relative``, a share of all rows.
    """

    kind: ReviewKind
    value: str
    number: Fraction
    relative: bool = False

    @property
    def rate(self) -> Rate:
        """Rate of all rows, of positives, or of cleared rows that it bounds from above."""
        rates = {ReviewKind.MISS: Rate.MISSED, ReviewKind.OMISSION: Rate.OMISSION}
        return rates.get(self.kind, Rate.REVIEWED)

    @property
    def name(self) -> str:
        """Name of a rate that it promises."""
        return "false omission rate" if self.rate is Rate.OMISSION else "miss rate"

    @property
    def is_promise(self) -> bool:
        """Whether a rule can promise its rate on new data."""
        return self.kind is not ReviewKind.REVIEW

    def text(self) -> str:
        """Describe the limit."""
        if self.kind is ReviewKind.OMISSION:
            return f"at most {float(100 * self.number):g} % of cleared rows positive"
        if self.kind is ReviewKind.MISS:
            return f"at most {float(100 * self.number):g} % of positives missed"
        return f"at most {self.value.replace('%', ' % of')} row{'' if self.value == '1' else 's'} reviewed"

    def budget(self, rows: int) -> int:
        """Return the maximum number of reviewed rows."""
        return min(math.floor(self.number * rows) if self.relative else math.floor(self.number), rows)

    def most_missed(self, positives: int) -> int:
        """Return the maximum number of positives among cleared rows."""
        return math.floor(self.number * positives)


def omission_below(bounds: dict[str, str | None]) -> str | None:
    """Take a bound on omission out of the bounds by option if there is one on precision, above a review."""
    return bounds.pop("max_omission", None) if bounds.get("precision") is not None else None


def review_limit(
    *, review: str | None = None, miss: str | None = None, max_omission: str | None = None
) -> ReviewLimit | None:
    """Parse the limit of the review; None if there is no review. Only one limit can be given.

    Examples
    --------
    >>> review_limit(review="5%", miss=None).number
    Fraction(1, 20)
    """
    limits = {ReviewKind.REVIEW: review, ReviewKind.MISS: miss, ReviewKind.OMISSION: max_omission}
    given = [kind for kind, value in limits.items() if value is not None]
    if len(given) > 1:
        options = listed_words(map(Opt, given))
        raise UsageError(words("{} cannot be combined", options), remedy="leave one of them out")
    for kind in given:
        if kind is not ReviewKind.REVIEW:
            value = share_text(limits[kind] or "")
            return ReviewLimit(kind=kind, value=value, number=decimal(Opt(kind), value, at_most=1))
    if review is None:
        return None
    if review.endswith("%"):
        share = (
            decimal(Opt("review"), review.removesuffix("%").rstrip(), above=0, at_most=100, unit="%") / 100
        )
        return ReviewLimit(kind=ReviewKind.REVIEW, value=review, number=share, relative=True)
    if not (review.isascii() and review.isdigit() and 0 < int(review[:MAX_DIGITS]) < 10**MAX_DIGITS):
        expected = "a whole number of rows above 0, or a share such as 5%"
        raise UsageError(words("--review '{}'", review[:MAX_DIGITS]), expected=expected)
    return ReviewLimit(kind=ReviewKind.REVIEW, value=review, number=Fraction(review[:MAX_DIGITS]))


def with_review(
    boundary: FittedBoundary, cells: Cells, limit: ReviewLimit, algorithm: Algorithm
) -> FittedBoundary:
    """Add the thresholds of the review to a boundary.

    The cells are the grid on which it was found, or all distinct scores for a single threshold. Reviewed rows
    are a run of the next cells in each uncertainty bin. With smoothed rates the cells follow in their order;
    otherwise the choice is the exact optimum. Among equal choices fewer rows are reviewed, then more
    positives are caught, then thresholds are higher. The thresholds are raised like those of a boundary.
    """
    below = cells_below(cells, boundary.thresholds)
    tops = _review(cells, below, boundary.fit.true_positives, limit, algorithm)
    zone = boundary_at(below, tops or (0,) * len(below.rows))
    caught = boundary.fit.true_positives + zone.fit.true_positives
    return replace(
        boundary,
        fit=replace(boundary.fit, zones=(zone.fit.selected, caught)),
        review_thresholds=zone.thresholds,
        shown_review=zone.shown,
    )


def _review(
    cells: Cells, below: Cells, flagged: int, limit: ReviewLimit, algorithm: Algorithm
) -> Tops | None:
    """Choose the reviewed run in each bin; None to review nothing. ``flagged`` are the flagged positives."""
    needed, budget = 0, 0
    if limit.kind is ReviewKind.REVIEW:
        budget = limit.budget(cells.total)
    else:
        needed = cells.positives - flagged - limit.most_missed(cells.positives)
    if needed <= 0 == budget:
        return None
    if algorithm is Algorithm.SMOOTH:
        return _next_by_rate(cells, below, budget, needed)
    runs = [top_runs(row) for row in below.rows]
    rows = _fewest_reviewed(runs, needed) if needed else budget
    return keep_budget(rows, false_only=False).optimum(runs)


def cells_below(cells: Cells, thresholds: Sequence[float | None]) -> Cells:
    """Return the cells below the threshold of each uncertainty bin.

    A threshold within a cell is at its lowest positive row. The rows below it there are added to the next
    cell.
    """
    rows = tuple(_row_below(row, threshold) for row, threshold in zip(cells.rows, thresholds, strict=True))
    return Cells(uncertainty_edges=cells.uncertainty_edges, rows=rows)


def _row_below(row: CellRow, threshold: float | None) -> CellRow:
    """Return the cells of one uncertainty bin below its threshold."""
    if threshold is None:
        return row
    first = int(bin_of(np.array([threshold]), row.lower[1:])[0])
    count = row.count[:first].copy()
    if row.below_positive is not None and threshold > row.lower[first]:
        count[-1:] += row.below_positive[first]
    return CellRow(
        lower=row.lower[:first],
        count=count,
        positives=row.positives[:first],
        lowest_positive=None if row.lowest_positive is None else row.lowest_positive[:first],
        below_positive=None if row.below_positive is None else row.below_positive[:first],
        scores=row.scores,
    )


def _fewest_reviewed(runs: Sequence[TopRuns], needed: int) -> int:
    """Compute the smallest number of rows among runs with at least ``needed`` positives.

    Cleared rows are taken from the bottom: as many as possible, with few enough positives.
    """
    limit = sum(int(run.true_positives[-1]) for run in runs) - needed
    cleared = [(run.selected[-1] - run.selected)[::-1] for run in runs]
    surplus = [(run.true_positives - run.true_positives[-1])[::-1] for run in runs]
    surplus[0] = surplus[0] + limit
    sizes = [len(run.selected) for run in runs]
    (chosen,) = solve(np.concatenate(cleared), np.concatenate(surplus)[None], sizes)
    return sum(
        int(run.selected[-1] - value[index]) for run, value, index in zip(runs, cleared, chosen, strict=True)
    )


def _next_by_rate(cells: Cells, below: Cells, budget: int, needed: int) -> Tops | None:
    """Take the next cells by smoothed rate: within the budget, or until enough positives are caught."""
    sizes, sizes_below = (np.array([len(row.count) for row in grid.rows]) for grid in (cells, below))
    nested = nested_boundaries(cells)
    index = nested.order - (np.cumsum(sizes) - sizes)[nested.row]
    is_below = index < sizes_below[nested.row]
    bins = nested.row[is_below]
    position = (np.cumsum(sizes_below) - sizes_below)[bins] + index[is_below]
    count, positives = below.flat
    reviewed, caught = np.cumsum(count[position]), np.cumsum(positives[position])
    if needed:
        last: int | None = int(np.argmax(caught >= needed))
    else:
        candidates = TopRuns(true_positives=caught, selected=reviewed, sums=no_amounts(len(caught)))
        last = keep_budget(budget, false_only=False).best_of(candidates)
    return None if last is None else tuple(np.bincount(bins[: last + 1], minlength=len(sizes)).tolist())
