"""Operating points of a page of ``uqcli boundary``, and the figure of precision and recall they lie on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.base.wording import count, percent
from uqcli.boundary.expected_report import expected_metrics
from uqcli.boundary.operating_points import PointOnGrid, operating_points
from uqcli.boundary.search.constraint import RULES, Constraint, ConstraintKind
from uqcli.reports.document import Figure, HoverText, OperatingPoint, OperatingPoints, PointPair
from uqcli.reports.figures import BLUE, INK, RED, draw_grid_lines
from uqcli.shift.target import BinaryWeights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_NAMES: Final = {ConstraintKind.PRECISION: "precision", ConstraintKind.MAX_SELECTED: "alerts"}
_OTHER_CONSTRAINTS: Final = frozenset(
    option for rule in RULES.values() for option in rule.options.split(" and ")
)


def points_for_page(
    cells: Cells,
    constraint: Constraint,
    seed: int,
    class_weights: BinaryWeights | None,
    *,
    alerts: int | None,
    settings: dict[str, str],
) -> OperatingPoints | None:
    """Compute the operating points of a grid.

    Parameters
    ----------
    alerts
        Rows that the run's rule flags; None if it has none.
    settings
        Options with which a command line makes the rule of a point.

    Returns
    -------
    None if the grid is too large, or if no rule is feasible.
    """
    by_kind = operating_points(cells, constraint, seed, class_weights)
    if by_kind is None or not any(by_kind.values()):
        return None
    families = {
        _NAMES[kind]: [
            PointPair(
                rule=_point(rule, rule.constraint, constraint, class_weights),
                single=None if single is None else _point(single, rule.constraint, constraint, class_weights),
            )
            for rule, single in pairs
        ]
        for kind, pairs in by_kind.items()
        if pairs
    }
    return OperatingPoints(
        families=families,
        chosen=_chosen(families, constraint, alerts),
        rows=cells.total,
        settings=settings,
        dropped_options=_OTHER_CONSTRAINTS | {"--frontier", "--algorithm"} | set(settings),
        dropped_flags=frozenset({"--compare"}),
        caption="Precision and recall are those expected on new rows, with 90 % ranges. Alerts are those of "
        f"the {count(cells.total)} rows of the calibration set; the saved rule may flag slightly fewer.",
    )


def _point(
    point: PointOnGrid, constraint: Constraint, asked: Constraint, class_weights: BinaryWeights | None
) -> OperatingPoint:
    expected = expected_metrics(point.expected, class_weights)
    precision, recall = expected["precision"], expected["recall"]
    assert precision is not None
    assert recall is not None
    alerts, utility = point.boundary.fit.selected, None
    if asked.is_utility and precision.value is not None:
        gain, cost = map(float, asked.numbers)
        utility = alerts * (gain * precision.value - cost * (1 - precision.value))
    return OperatingPoint(
        option=(f"--{constraint.kind}", constraint.value),
        alerts=alerts,
        precision=precision,
        recall=recall,
        utility=utility,
        thresholds=point.boundary.thresholds,
    )


def _chosen(
    families: dict[str, list[PointPair]], constraint: Constraint, alerts: int | None
) -> tuple[str, int]:
    """Return the point of the run's constraint, else the one whose number of alerts is nearest."""
    name = _NAMES.get(constraint.kind, "precision")
    name = name if name in families else next(iter(families))
    pairs = families[name]
    for position, pair in enumerate(pairs):
        if pair.rule.option == (f"--{constraint.kind}", constraint.value):
            return name, position
    distances = [abs(pair.rule.alerts - (alerts or 0)) for pair in pairs]
    return name, distances.index(min(distances))


def settings_of(
    algorithm: Algorithm, binning: str | None, bins: int, uncertainty: str | None
) -> dict[str, str]:
    """Return the options that make a command line use the same grid and the nested boundaries."""
    settings = {"--uncertainty-bins": str(bins)}
    if algorithm is not Algorithm.SMOOTH and binning is not None:
        settings |= {"--binning": binning}
    return settings if uncertainty is None else {"--uncertainty": uncertainty, **settings}


def frontier_figure(points: Callable[[], OperatingPoints | None], marked: Sequence[Constraint]) -> Figure:
    """Build the figure of the precision and recall expected at all operating points, some of them marked."""
    options = {(f"--{constraint.kind}", constraint.value) for constraint in marked}

    def draw(canvas: Canvas) -> Sequence[HoverText]:
        points_found = points()
        axes: Axes = canvas.subplots()
        axes.set_gid("curve")
        axes.set(xlabel="expected recall", ylabel="expected precision", xlim=(0, 1.02), ylim=(0, 1.02))
        draw_grid_lines(axes)
        if points_found is None:
            return []
        pairs = [pair for family in points_found.families.values() for pair in family]
        rules = [pair.rule for pair in pairs]
        singles = [pair.single for pair in pairs if pair.single is not None]
        label = "score and uncertainty" if singles else "score"
        axes.plot(*_curve(rules), label=label, color=BLUE, linewidth=1.8)
        dashed: dict[str, Any] = {"color": INK, "linewidth": 1.4, "linestyle": (0, (4, 2))}
        if singles:
            axes.plot(*_curve(singles), label="score alone", **dashed)
        chosen = [rule for rule in rules if rule.option in options]
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


def _curve(points: Sequence[OperatingPoint]) -> tuple[list[float], list[float]]:
    """Return recalls and precisions in ascending order of the recall."""
    pairs = sorted((point.recall.value or 0.0, point.precision.value or 0.0) for point in points)
    return [recall for recall, _ in pairs], [precision for _, precision in pairs]
