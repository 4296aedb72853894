"""The same questions put to other tools: a bound that must hold on new rows, an interval of a precision."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

import uqcli
from reproduction.gaussian import Say
from reproduction.library import LEVELS
from reproduction.peers import Bools, Floats, controlled_threshold, tuned_threshold
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Study

HOLD_OUT, BOUND, RISK = 20_000, 0.7, 0.1
FEW_ROWS, HIGH_BOUND, LEVEL = (100, 300, 1_000), 0.9, 0.95


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Rows of the law.

    Attributes
    ----------
    score, uncertainty, label : shape (n,)
    """

    score: Floats
    uncertainty: Floats
    label: Bools

    @classmethod
    def of(cls, rows: int, seed: int) -> Drawn:
        """As ``uqcli simulate posterior`` draws them."""
        found = uqcli.simulate("posterior", rows, seed=seed, **LEVELS)
        return cls(
            score=found["score"], uncertainty=found["uncertainty"], label=found["label"].astype(np.bool_)
        )

    def decided(self, boundary: uqcli.Boundary | float) -> Bools:
        """Which rows a boundary, or a threshold on the score, selects."""
        if isinstance(boundary, float):
            return self.score >= boundary
        return boundary.decide(self.score, uncertainty=self.uncertainty)


@dataclass(kw_only=True)
class Tally:
    """What became of the thresholds of one tool."""

    broken: int = 0
    recalls: list[float] = field(default_factory=list)


Tool = Callable[[Drawn], "uqcli.Boundary | float | None"]

TOOLS: dict[str, Tool] = {
    "scikit-learn, TunedThresholdClassifierCV": lambda d: tuned_threshold(d.score, d.label, BOUND),
    f"MAPIE, risk control at {RISK:g}": lambda d: controlled_threshold(d.score, d.label, BOUND, RISK),
    "uqcli, --algorithm st": lambda d: _found(d, algorithm="st"),
    "uqcli, the exact optimum": lambda d: _found(d, algorithm="vw-dpmt"),
    f"uqcli, --certify {RISK:g}": lambda d: _found(d, algorithm="smooth", certify=str(RISK)),
}


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """The two tables; nothing of it needs a process."""
    del program
    return Outcome(sheets=[_bounds(scale, say), _intervals(scale, say)])


def _found(rows: Drawn, bound: float = BOUND, **how: Any) -> uqcli.Boundary | None:
    uncertainty = None if how.get("algorithm") == "st" else rows.uncertainty
    try:
        return uqcli.find_boundary(
            rows.score, rows.label, uncertainty=uncertainty, precision=str(bound), **how
        )
    except uqcli.InfeasibleError:
        return None


def _bounds(scale: Scale, say: Say) -> Sheet:
    truth = Drawn.of(scale.rows, 10**6)
    tallies = {name: Tally() for name in TOOLS}
    for seed in range(scale.seeds):
        if seed % 10 == 0:
            say(f"other tools, hold-out {seed + 1} of {scale.seeds}")
        rows = Drawn.of(HOLD_OUT, seed)
        for name, tool in TOOLS.items():
            chosen = tool(rows)
            if chosen is not None:
                selected = truth.decided(chosen)
                hits = np.count_nonzero(selected & truth.label)
                tallies[name].broken += int(hits < BOUND * np.count_nonzero(selected))
                tallies[name].recalls.append(hits / np.count_nonzero(truth.label))
    lines: list[Row] = [
        [
            name,
            f"{tally.broken} of {len(tally.recalls)}",
            f"{100 * statistics.mean(tally.recalls):.1f}" if tally.recalls else "-",
            str(scale.seeds - len(tally.recalls)),
        ]
        for name, tally in tallies.items()
    ]
    text = (
        f"Each tool chooses a threshold for a precision of at least {BOUND} on new data, from "
        f"{scale.seeds} calibration sets of {HOLD_OUT:,} simulated rows each. Another {scale.rows:,} "
        "rows give the true precision and recall. The first three use the score only. scikit-learn "
        "has no bound. Its objective is the recall of a fold if the fold meets the bound, and 0 if it "
        "does not. MAPIE gives the same guarantee as a certificate, over a hundred thresholds fixed "
        "in advance."
    )
    header = ["tool", "bound missed on new data", "true recall %", "none found"]
    return Sheet(title="A bound on precision, by other tools", text=[text], header=header, rows=lines)


def _intervals(scale: Scale, say: Say) -> Sheet:
    truth, fitted = Drawn.of(scale.rows, 10**6), Drawn.of(HOLD_OUT, 0)
    boundary = _found(fitted, HIGH_BOUND)
    if boundary is None:
        return Sheet(title="Intervals of a precision", text=["No boundary was found on these few rows."])
    precision = float(truth.label[truth.decided(boundary)].mean())
    lines: list[Row] = []
    for size in FEW_ROWS:
        say(f"intervals of a precision from {size} rows")
        exact = normal = told = selected_rows = 0
        for seed in range(scale.repetitions):
            rows = Drawn.of(size, 10**5 + seed)
            selected = rows.decided(boundary)
            hits, many = int((selected & rows.label).sum()), int(selected.sum())
            if many:
                told, selected_rows = told + 1, selected_rows + many
                found = boundary.evaluate(rows.score, rows.label, uncertainty=rows.uncertainty)
                interval: Any = found.metrics["precision"]
                exact += interval.low <= precision <= interval.high
                normal += _in_normal(precision, hits, many)
        shares = (f"{100 * each / told:.1f}" for each in (exact, normal)) if told else ("-", "-")
        lines.append([f"{size:,}", f"{selected_rows / max(told, 1):.1f}", str(told), *shares])
    text = (
        "The table is for 95 % intervals of the precision of one boundary, whose true value is "
        f"{precision:.3f}. Few rows of each file are flagged. The last columns show the share of "
        f"intervals that contain it, among those of {scale.repetitions} files that have flagged rows."
    )
    header = ["rows", "flagged on average", "files", "uqcli (exact) %", "normal approximation %"]
    return Sheet(title="Intervals of a precision", text=[text], header=header, rows=lines)


def _in_normal(truth: float, hits: int, trials: int) -> bool:
    """Whether the interval of the normal approximation holds a share."""
    rate = hits / trials
    return abs(rate - truth) <= NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(rate * (1 - rate) / trials)


STUDY = Study(name="peers", heading="What other tools give", run=run)
