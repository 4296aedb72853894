"""Operating points of ``uqcli boundary``: those of a page, and the trade-off curve as a table.

The results on new data of those of a page, and of the figure of precision and recall they lie on, are
estimated from one grid and its bootstrap samples. The points are nested boundaries (see
``search.smoothing``), and single thresholds on the same score bins. The estimates are those of ``expected``,
before thresholds are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells, Ints, distinct_numbers
from uqcli.base.errors import Opt, words
from uqcli.base.options import RowOutput
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent
from uqcli.boundary.expected import DRAWS, Expected, by_optimism, enough_draws, expected_metrics
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import RULES, ConstraintKind, in_source
from uqcli.boundary.search.cross_validation import resampled
from uqcli.boundary.search.smoothing import Layout, NestedBoundaries, nested_boundaries, nested_of_draws
from uqcli.boundary.search.thresholds import FittedBoundary, boundary_at
from uqcli.boundary.search.typed_constraints import constraint_from, parse_constraint
from uqcli.engines.open import write_frames
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.estimates.proportion import Chosen, net_benefit
from uqcli.reports.document import Figure, HoverText, OperatingPoint, OperatingPoints
from uqcli.reports.figures import BLUE, INK, RED, draw_grid_lines
from uqcli.shift.rule import BinaryWeights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_CELLS: Final = 20_000
_STEPS: Final = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
"""Numbers of alerts in the first decade; later decades have multiples of them."""

_LOW_PRECISIONS: Final = ("0.001", "0.002", "0.005")
_NAMES: Final[Mapping[str, str]] = {
    ConstraintKind.PRECISION: "precision",
    ConstraintKind.MAX_SELECTED: "alerts",
}
_OTHER_CONSTRAINTS: Final = frozenset(
    option for rule in RULES.values() for option in words("{}", rule.options) if isinstance(option, Opt)
)

PointOnGrid = tuple[FittedBoundary, Expected]
"""Rule, whose thresholds are lower edges of cells and not raised, and what to expect of it on new data."""


@dataclass(frozen=True, kw_only=True)
class RankedSamples:
    """A ranking of the cells of a grid, and the rankings of its bootstrap samples.

    Each sample has its counts, its ranking, and the true positives and selected rows of its boundaries in the
    grid itself, int64 of shape (cells,).
    """

    cells: Cells
    nested: NestedBoundaries
    samples: tuple[tuple[Cells, NestedBoundaries, Ints, Ints], ...]

    @classmethod
    def from_cells(cls, cells: Cells, seed: int, algorithm: Algorithm) -> RankedSamples:
        """Rank a grid and its samples; by score if it has one uncertainty bin."""
        (counts, positives), _ = resampled(cells, seed, DRAWS)
        sample_cells = [
            cells.with_counts(*counts_of_sample) for counts_of_sample in zip(counts, positives, strict=True)
        ]
        if algorithm is Algorithm.ST:
            nested = NestedBoundaries.by_score(cells)
            rankings = [NestedBoundaries.by_score(sample) for sample in sample_cells]
        else:
            nested = nested_boundaries(cells)
            rankings = list(nested_of_draws(Layout.from_cells(cells), counts, positives))
        return cls(
            cells=cells,
            nested=nested,
            samples=tuple(
                (sample, ranking, *ranking.counts_of(cells))
                for sample, ranking in zip(sample_cells, rankings, strict=True)
            ),
        )

    def at(self, constraint: Constraint) -> PointOnGrid | None:
        """Find the rule for a constraint; None if there is none, or if too many samples have none."""
        best = constraint.goal(self.cells).best_of(self.nested.runs(self.cells))
        if best is None:
            return None
        in_draws, on_all = [], []
        for sample, ranking, true_positives, selected in self.samples:
            position = constraint.goal(sample).best_of(ranking.runs(sample))
            if position is not None:
                in_draws.append(_selection(sample, ranking.true_positives, ranking.selected, position))
                on_all.append(_selection(self.cells, true_positives, selected, position))
        if not enough_draws(len(in_draws)):
            return None
        apparent = [_selection(self.cells, self.nested.true_positives, self.nested.selected, best)]
        tops = self.nested.tops(best, len(self.cells.rows))
        boundary = boundary_at(self.cells, tops, raised=False)
        return boundary, by_optimism(*map(_together, (apparent, in_draws, on_all)))


def _selection(cells: Cells, true_positives: Ints, selected: Ints, position: int) -> tuple[int, ...]:
    """Return the counts of one boundary, in the order of ``_together``."""
    return cells.total, cells.positives, int(selected[position]), int(true_positives[position])


def _together(selections: Sequence[tuple[int, ...]]) -> Confusion[Ints]:
    rows, positives, selected, true_positives = np.array(selections, dtype=np.int64).T
    return Confusion(rows=rows, positives=positives, selected=selected, true_positives=true_positives)


def operating_points(
    cells: Cells,
    constraint: Constraint,
    seed: int,
    class_weights: BinaryWeights | None,
    algorithm: Algorithm = Algorithm.SMOOTH,
) -> dict[ConstraintKind, list[tuple[Constraint, PointOnGrid, PointOnGrid | None]]] | None:
    """Find rules for many precisions and, without class weights, for many numbers of alerts.

    The constraint of the run is also a point if its kind has points; its margin applies to precisions. By
    kind of constraint, in ascending order, return the constraint, its rule and, if several uncertainty bins
    share their score bins, the single threshold. The rules are of the algorithm: nested boundaries, or a
    single threshold. Rules that flag too few rows to expect anything are left out. None for a grid of over
    20,000 cells, and for a single threshold on bins that do not share theirs.
    """
    if len(cells.flat[0]) > _MAX_CELLS or not cells.positives:
        return None
    first_edges, *other_edges = (row.lower for row in cells.rows)
    mergeable = all(np.array_equal(lower, first_edges) for lower in other_edges)
    if algorithm is Algorithm.ST:
        if not mergeable:
            return None
        rules, singles = RankedSamples.from_cells(cells.joined(1), seed, Algorithm.ST), None
    else:
        rules, singles = RankedSamples.from_cells(cells, seed, Algorithm.SMOOTH), None
        if other_edges and mergeable:
            singles = RankedSamples.from_cells(cells.joined(1), seed, Algorithm.ST)
    kinds = {ConstraintKind.PRECISION: _precisions(cells, class_weights)}
    if not class_weights:
        kinds[ConstraintKind.MAX_SELECTED] = _alerts(cells)
    points = {}
    for kind, values in kinds.items():
        constraints = {
            candidate.numbers: candidate for candidate in (parse_constraint(kind, value) for value in values)
        }
        if constraint.kind is kind:
            constraints[constraint.numbers] = constraint
        points_of_kind = []
        for candidate in sorted(constraints.values(), key=lambda candidate: _amount(candidate, cells)):
            asked = in_source(candidate, class_weights) if class_weights else candidate
            if candidate.takes_margin:
                asked = replace(asked, margin=constraint.margin)
            rule = rules.at(asked)
            if rule and rule[0].fit.selected >= FEWEST_FLAGGED:
                points_of_kind.append((candidate, rule, singles.at(asked) if singles else None))
        points[kind] = points_of_kind
    return points


def _amount(constraint: Constraint, cells: Cells) -> Fraction:
    """Return the precision, or the number of alerts."""
    (bound,) = constraint.numbers
    return bound * cells.total if constraint.is_share else bound


def _precisions(cells: Cells, class_weights: BinaryWeights | None) -> list[str]:
    """List precisions above the positive rate, in steps of a hundredth."""
    base = cells.positives / cells.total
    base = class_weights.precision(base) or 0.0 if class_weights else base
    hundredths = [f"{percent / 100:g}" for percent in range(1, 100)]
    return [text for text in (*_LOW_PRECISIONS, *hundredths) if float(text) > base]


def _alerts(cells: Cells) -> list[str]:
    """List round numbers of alerts below the number of rows."""
    decades = range(len(str(cells.total)))
    alert_counts = [step * 10**decade for decade in decades for step in _STEPS]
    return [str(alerts) for alerts in alert_counts if alerts < cells.total]


def points_for_page(
    cells: Cells,
    constraint: Constraint,
    seed: int,
    class_weights: BinaryWeights | None,
    *,
    algorithm: Algorithm,
    own: PointOnGrid | None,
    settings: dict[str, str],
) -> OperatingPoints | None:
    """Compute the operating points of a grid; None if it is too large, or if no rule is feasible.

    ``own`` is the run's rule of the algorithm, and what is expected of it, at which the choice begins; None
    if nothing is expected of it. The settings are the options with which a command line makes the rule of a
    point.
    """
    by_kind = operating_points(cells, constraint, seed, class_weights, algorithm)
    if not by_kind or not any(by_kind.values()):
        return None
    families = {
        _NAMES[kind]: [
            (
                _point(rule, bound, constraint, class_weights),
                _point(single, bound, constraint, class_weights) if single else None,
            )
            for bound, rule, single in pairs
        ]
        for kind, pairs in by_kind.items()
        if pairs
    }
    chosen = _chosen(families, constraint, own[0].fit.selected if own else None)
    if own is not None:
        name, position = chosen
        rule, single = families[name][position]
        first = _point(own, constraint, constraint, class_weights)
        if rule.option == first.option:
            families[name][position] = first, single
        else:  # a bound that has no points of its own, beside the nearest one
            families[name].insert(position, (first, None))
    return OperatingPoints(
        families=families,
        chosen=chosen,
        rows=cells.total,
        settings=settings,
        dropped_options=_OTHER_CONSTRAINTS | {"--frontier"} | set(settings),
        dropped_flags=frozenset({"--compare"}),
        caption="Precision and recall are those expected on new rows, with 90 % ranges. Alerts are those of "
        f"the {count(cells.total)} rows of the calibration set; the saved rule may flag slightly fewer.",
    )


def _point(
    point: PointOnGrid, constraint: Constraint, asked: Constraint, class_weights: BinaryWeights | None
) -> OperatingPoint:
    boundary, expected_results = point
    expected = expected_metrics(expected_results, class_weights)
    precision, recall = expected["precision"], expected["recall"]
    assert precision is not None
    assert recall is not None
    alerts = boundary.fit.selected
    utility = None if precision.value is None else asked.expected_value(alerts, precision.value)
    return OperatingPoint(
        option=constraint.arguments,
        alerts=alerts,
        precision=precision,
        recall=recall,
        utility=utility,
        thresholds=boundary.thresholds,
    )


def _chosen(
    families: dict[str, list[tuple[OperatingPoint, OperatingPoint | None]]],
    constraint: Constraint,
    alerts: int | None,
) -> tuple[str, int]:
    """Return the point of the run's constraint, else the one whose number of alerts is nearest."""
    name = _NAMES.get(constraint.kind, "precision")
    name = name if name in families else next(iter(families))
    rules = [rule for rule, _ in families[name]]
    for position, rule in enumerate(rules):
        if rule.option == constraint.arguments:
            return name, position
    distances = [abs(rule.alerts - (alerts or 0)) for rule in rules]
    return name, distances.index(min(distances))


def settings_of(
    algorithm: Algorithm, binning: str | None, bins: int, uncertainty: str | None
) -> dict[str, str]:
    """Return the options that make a command line use the same grid and the nested boundaries."""
    settings = {"--uncertainty-bins": "1" if algorithm is Algorithm.ST else str(bins)}
    if algorithm is not Algorithm.SMOOTH and binning is not None:
        settings |= {"--binning": binning}
    return settings if uncertainty is None else {"--uncertainty": uncertainty, **settings}


def frontier_figure(points: Callable[[], OperatingPoints | None], marked: Sequence[Constraint]) -> Figure:
    """Build the figure of the precision and recall expected at all operating points, some of them marked."""
    bounds = {_bound(constraint) for constraint in marked}

    def draw(canvas: Canvas) -> Sequence[HoverText]:
        points_found = points()
        axes: Axes = canvas.subplots()
        axes.set_gid("curve")
        axes.set(xlabel="expected recall", ylabel="expected precision", xlim=(0, 1.02), ylim=(0, 1.02))
        draw_grid_lines(axes)
        if points_found is None:
            return []
        pairs = [pair for family in points_found.families.values() for pair in family]
        rules = [rule for rule, _ in pairs]
        singles = [single for _, single in pairs if single is not None]
        label = "score and uncertainty" if singles else "score"
        axes.plot(*_curve(rules), label=label, color=BLUE, linewidth=1.8)
        dashed: dict[str, Any] = {"color": INK, "linewidth": 1.4, "linestyle": (0, (4, 2))}
        if singles:
            axes.plot(*_curve(singles), label="score alone", **dashed)
        chosen = [rule for rule in rules if _bound_of(rule) in bounds]
        name = marked[0].text() if len(marked) == 1 else "the targets"
        dots: dict[str, Any] = {"color": RED, "marker": "o", "markersize": 7, "linestyle": ""}
        axes.plot(*_curve(chosen), label=name if chosen else None, **dots)
        axes.legend(loc="lower left")
        return [
            HoverText(
                axes=axes,
                x=(rule.recall.value or 0, rule.recall.value or 0),
                y=(rule.precision.value or 0, rule.precision.value or 0),
                text=f"{percent(rule.precision.value)} precision, {percent(rule.recall.value)} recall, "
                f"{count(rule.alerts)} alerts ({' '.join(rule.option)})",
            )
            for rule in sorted(rules, key=lambda rule: rule.alerts)
        ]

    return Figure(
        title="Precision and recall expected on new rows, for other operating points",
        caption="Up and to the right is better.",
        width=7.0,
        height=4.2,
        narrow_height=3.8,
        draw=draw,
    )


def _bound(constraint: Constraint) -> tuple[object, ...]:
    """Return what equal bounds have in common, such as .6, 0.6 and 60%."""
    return type(constraint), constraint.numbers


def _bound_of(point: OperatingPoint) -> tuple[object, ...]:
    option, value, *others = point.option
    if others:  # a gain and a cost are no bound
        return point.option
    return _bound(parse_constraint(ConstraintKind(option.removeprefix("--")), value))


def _curve(points: Sequence[OperatingPoint]) -> tuple[list[float], list[float]]:
    """Return recalls and precisions in ascending order of the recall."""
    pairs = sorted((point.recall.value or 0.0, point.precision.value or 0.0) for point in points)
    return [recall for recall, _ in pairs], [precision for _, precision in pairs]


FAMILIES: Final = (Algorithm.VW_DPMT, Algorithm.SMOOTH, Algorithm.ST)
"""The exact optimum on the grid at each number of alerts, nested boundaries, and a single threshold."""

_MAX_BUDGETS: Final = 200


def trade_off(grid: Cells, scores: Cells | None) -> Mapping[Algorithm, tuple[FittedBoundary, ...]]:
    """Find each algorithm's best boundaries for numbers of alerts from one to all, in a geometric series.

    Their true positives increase. A single row of all distinct scores is for a single threshold; None if not
    available.
    """
    budgets = distinct_numbers(
        np.geomspace(1, max(grid.total, 1), _MAX_BUDGETS).round().astype(np.int64)
    ).tolist()
    constraints = [constraint_from(max_selected=str(budget)) for budget in budgets]
    grids = {Algorithm.VW_DPMT: grid} if scores is None else {Algorithm.VW_DPMT: grid, Algorithm.ST: scores}
    boundaries = {
        algorithm: [optimise(cells, algorithm, constraint).boundary for constraint in constraints]
        for algorithm, cells in grids.items()
    }
    nested = nested_boundaries(grid)  # one ranking for all numbers
    tops = [nested.best_for(constraint.goal(grid), grid) for constraint in constraints]
    boundaries[Algorithm.SMOOTH] = [None if prefix is None else boundary_at(grid, prefix) for prefix in tops]
    return {
        algorithm: _undominated(boundaries[algorithm]) for algorithm in FAMILIES if algorithm in boundaries
    }


def _undominated(boundaries: Sequence[FittedBoundary | None]) -> tuple[FittedBoundary, ...]:
    """Find undominated boundaries; since thresholds are raised, more true positives may take fewer rows."""
    undominated: list[FittedBoundary] = []
    present = [boundary for boundary in boundaries if boundary is not None]
    for boundary in sorted(
        present, key=lambda candidate: (-candidate.fit.true_positives, candidate.fit.selected)
    ):
        if not undominated or boundary.fit.selected < undominated[-1].fit.selected:
            undominated.append(boundary)
    return tuple(reversed(undominated))


def write_frontier(
    cells: Cells, scores: Cells | None, output: RowOutput, bounds: Sequence[Constraint]
) -> None:
    """Compute the trade-off curve (see ``trade_off``) and write it.

    The table also has the net benefit at the odds of each bound; a bound that sets no odds adds no column.
    """
    import polars as pl

    frontier = trade_off(cells, scores)
    named = {f"net_benefit_{bound.value}" if len(bounds) > 1 else "net_benefit": bound for bound in bounds}
    odds = {name: bound.odds for name, bound in named.items() if bound.sets_odds}
    kinds = {"algorithm": pl.String, "selected": pl.Int64, "true_positives": pl.Int64}
    utilities = [bound for bound in bounds if not bound.is_bound]
    table = _columns(frontier, len(cells.rows), odds, utilities)
    frame = pl.DataFrame(table, schema={name: kinds.get(name, pl.Float64) for name in table})
    write_frames([frame], frame.clear(), output)


def _columns(
    frontier: Mapping[Algorithm, Sequence[FittedBoundary]],
    bins: int,
    odds: Mapping[str, Fraction | None],
    utilities: Sequence[Constraint],
) -> dict[str, list[Any]]:
    """Build the columns of a table of boundaries; a single threshold is repeated for each uncertainty bin.

    Each column of net benefits has its odds; None if they are infinite, which leaves the column null.
    """
    points = [(algorithm, boundary) for algorithm, boundaries in frontier.items() for boundary in boundaries]
    table: dict[str, list[Any]] = {
        "algorithm": [str(algorithm) for algorithm, _ in points],
        "selected": [boundary.fit.selected for _, boundary in points],
        "true_positives": [boundary.fit.true_positives for _, boundary in points],
        "recall": [boundary.fit.recall for _, boundary in points],
        "precision": [boundary.fit.precision for _, boundary in points],
    }
    for utility in utilities[:1]:
        table["value"] = [float(utility.objective(boundary.fit)) for _, boundary in points]
    for name, at_odds in odds.items():
        table[name] = [None if at_odds is None else _net_benefit(boundary, at_odds) for _, boundary in points]
    for bin_index in range(bins):
        table[f"threshold_{bin_index + 1}"] = [
            boundary.thresholds[bin_index if len(boundary.thresholds) > 1 else 0] for _, boundary in points
        ]
    return table


def _net_benefit(boundary: FittedBoundary, odds: Fraction) -> float:
    fit = boundary.fit
    flagged = Chosen(positives=fit.true_positives, negatives=fit.selected - fit.true_positives)
    return net_benefit(flagged, fit.rows, odds)
