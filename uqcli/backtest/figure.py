"""Figures of ``uqcli backtest``: the rate of each policy by period, and how rules age."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from uqcli.backtest.judge import Target
from uqcli.backtest.results import Outcome
from uqcli.base.wording import capitalised, count, percent, printable
from uqcli.estimates.estimate import interval
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import BLUE, GREY, INK, RED, draw_grid_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_COLOURS: Final = (BLUE, "#d08a1d", "#3a8f5c", "#7a5aa6")
_MARKERS: Final = ("o", "s", "^", "D")
_MOST_POLICIES: Final = 4
_MOST_TICKS: Final = 12


def figure_by_period(outcome: Outcome, what: str, names: Sequence[str], unit: str) -> Figure:
    """Build the figure of the rates of at most four policies by period, with their intervals."""
    policies = outcome.policies[:_MOST_POLICIES]

    def draw(canvas: Canvas) -> list[HoverText]:
        axes = canvas.subplots()
        draw_grid_lines(axes)
        texts: list[HoverText] = []
        step = 0.7 / len(policies)
        for number, (judged, name) in enumerate(zip(policies, names, strict=False)):
            shown = [(x, span) for x, span in enumerate(judged.shown) if span.rate.value is not None]
            places = [x + (number - (len(policies) - 1) / 2) * step for x, _ in shown]
            colour = _COLOURS[number]
            for place, (_, span) in zip(places, shown, strict=True):
                rate: Any = span.rate
                low, high = rate.ends or (rate.value, rate.value)
                axes.plot([place, place], [100 * low, 100 * high], color=colour, linewidth=1.4)
                axes.plot(
                    [place],
                    [100 * rate.value],
                    color=colour if span.is_counted else "white",
                    marker=_MARKERS[number],
                    markersize=5,
                    markeredgecolor=colour,
                )
                text = f"{span.name}, {name}: {interval(rate)}, {count(span.alerts)} alerts"
                half = step / 2
                texts.append(
                    HoverText(axes=axes, x=(place - half, place + half), y=(100 * low, 100 * high), text=text)
                )
            axes.plot([], [], color=colour, marker=_MARKERS[number], label=printable(name))
        if isinstance(outcome.measure, Target):
            axes.axhline(100 * outcome.measure.bound, color=RED, linewidth=1.4, label="target")
        _name_periods(axes, [span.name for span in policies[0].shown])
        axes.set_ylabel(f"{what} (%)")
        axes.legend()
        return texts

    return Figure(
        title=f"{capitalised(what)} by {unit}",
        caption=f"Each point is a {unit} with its interval by days. Hollow points have too few alerts or "
        "labels to be counted. Points of one policy on both sides of the target, as chance has it, are what "
        "an unchanged world looks like.",
        width=8.5,
        height=4,
        narrow_height=3.4,
        draw=draw,
    )


def _name_periods(axes: Axes, names: Sequence[str]) -> None:
    step = -(-len(names) // _MOST_TICKS) or 1
    axes.set_xticks(range(0, len(names), step), [name.partition(" to ")[0] for name in names[::step]])


def figure_by_age(outcome: Outcome, what: str, unit: str) -> Figure:
    """Build the figure of the rate of all rules by the age of the period."""

    def draw(canvas: Canvas) -> list[HoverText]:
        axes = canvas.subplots()
        draw_grid_lines(axes)
        known = [(each.age, each, each.rate) for each in outcome.ageing if each.rate is not None]
        ages, rates = [age for age, _, _ in known], [100 * rate for _, _, rate in known]
        axes.plot(ages, rates, color=BLUE, marker="o")
        largest = max(each.trials for _, each, _ in known) or 1
        bars = [each.trials / largest * max(rates) / 4 for _, each, _ in known]
        axes.bar(ages, bars, color=GREY, alpha=0.5, width=0.7)
        if isinstance(outcome.measure, Target):
            axes.axhline(100 * outcome.measure.bound, color=RED, linewidth=1.4)
        axes.set_xlabel(f"{unit} after the fit", color=INK)
        axes.set_ylabel(f"{what} (%)")
        axes.set_ylim(bottom=0)
        return [
            HoverText(
                axes=axes,
                x=(age - 0.5, age + 0.5),
                y=(0.0, 100 * rate),
                text=f"{unit} {age}: {percent(rate)} of {count(each.trials)}, {each.rules} rules",
            )
            for age, each, rate in known
        ]

    return Figure(
        title=f"{capitalised(what)} by the age of the rule",
        caption=f"All rules together, in the first {unit} after their fit, the second one and so on. "
        "Grey bars show how many rows each point rests on; old ages are those of early rules in late "
        "periods only.",
        width=6,
        height=3.2,
        narrow_height=3.2,
        draw=draw,
    )
