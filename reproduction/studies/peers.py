"""Other tools on the same tasks: a precision bound on new data, and an interval of a precision."""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

import uqcli
from reproduction.gaussian import Say
from reproduction.library import POSTERIOR
from reproduction.peers import Bools, Floats, controlled_threshold, tuned_threshold
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Study

CALIBRATION_ROWS, BOUND, RISK = 20_000, 0.7, 0.1
FEW_ROWS, HIGH_BOUND, LEVEL = (100, 300, 1_000), 0.9, 0.95


@dataclass(frozen=True, kw_only=True)
class SimulatedRows:
    """Simulated rows of a posterior network.

    Attributes
    ----------
    score, uncertainty, label : shape (n,)
        Uncertainty is None for rules of the score only.
    """

    score: Floats
    uncertainty: Floats | None
    label: Bools

    @classmethod
    def simulate(cls, rows: int, seed: int) -> SimulatedRows:
        """Draw rows."""
        columns = POSTERIOR.draw(rows, seed)
        return cls(**{name: columns[name] for name in ("score", "uncertainty", "label")})

    def flagged_by(self, boundary: uqcli.Boundary | float) -> Bools:
        """Return which rows a boundary, or a single threshold, flags."""
        if isinstance(boundary, float):
            return self.score >= boundary
        return boundary.decide(self.score, uncertainty=self.uncertainty)


@dataclass(kw_only=True)
class Tally:
    """Missed bounds and recalls of the thresholds of a tool."""

    missed: int = 0
    recalls: list[float] = field(default_factory=list)


Tool = Callable[[SimulatedRows], "uqcli.Boundary | float | None"]


def _find_boundary(rows: SimulatedRows, bound: float = BOUND, **options: Any) -> uqcli.Boundary | None:
    try:
        return uqcli.find_boundary(
            rows.score, rows.label, uncertainty=rows.uncertainty, precision=str(bound), **options
        )
    except uqcli.InfeasibleError:
        return None


TOOLS: dict[str, Tool] = {
    "scikit-learn, `TunedThresholdClassifierCV`": lambda d: tuned_threshold(d.score, d.label, BOUND),
    f"MAPIE, risk control at {RISK:g}": lambda d: controlled_threshold(d.score, d.label, BOUND, RISK),
    f"MAPIE, risk control at {RISK:g}, a fixed sequence from the top": lambda d: controlled_threshold(
        d.score, d.label, BOUND, RISK, from_the_top=True
    ),
    f"uqcli `--certify {RISK:g}`, the score only": lambda d: _find_boundary(
        replace(d, uncertainty=None), certify=str(RISK)
    ),
    f"uqcli `--certify {RISK:g}`": lambda d: _find_boundary(d, certify=str(RISK)),
    "uqcli, its default": _find_boundary,
    "uqcli `--margin 1`": lambda d: _find_boundary(d, margin="1"),
    "uqcli `--algorithm st`": lambda d: _find_boundary(replace(d, uncertainty=None), algorithm="st"),
    "uqcli `--algorithm vw-dpmt`, the exact optimum": lambda d: _find_boundary(d, algorithm="vw-dpmt"),
}


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make the two tables, without any process."""
    del program
    return Outcome(sheets=[_bounds(scale, say), _intervals(scale, say)])


def _bounds(scale: Scale, say: Say) -> Sheet:
    truth = SimulatedRows.simulate(scale.rows, 10**6)
    tallies = {name: Tally() for name in TOOLS}
    for seed in range(scale.seeds):
        if seed % 10 == 0:
            say(f"other tools, hold-out {seed + 1} of {scale.seeds}")
        rows = SimulatedRows.simulate(CALIBRATION_ROWS, seed)
        for name, tool in TOOLS.items():
            with warnings.catch_warnings():
                # drawn rows are independent though scores repeat; MAPIE misses a precision that never falls
                warnings.simplefilter("ignore", UserWarning)
                boundary = tool(rows)
            if boundary is not None:
                flagged = truth.flagged_by(boundary)
                hits = np.count_nonzero(flagged & truth.label)
                tallies[name].missed += int(hits < BOUND * np.count_nonzero(flagged))
                tallies[name].recalls.append(hits / np.count_nonzero(truth.label))
    lines: list[Row] = [
        [
            name,
            f"{tally.missed} of {len(tally.recalls)}",
            f"{100 * statistics.mean(tally.recalls):.1f}" if tally.recalls else "-",
            str(scale.seeds - len(tally.recalls)),
        ]
        for name, tally in tallies.items()
    ]
    text = (
        f"Each tool chooses a threshold for a precision of at least {BOUND} on new data, from "
        f"{scale.seeds} calibration sets of {CALIBRATION_ROWS:,} simulated rows each. Another {scale.rows:,} "
        "rows give the true precision and recall. scikit-learn and MAPIE use the score only. scikit-learn "
        "has no bound. Its objective is the recall of a fold if the fold meets the bound, and 0 if it "
        "does not. MAPIE gives the same guarantee as a certificate, over a hundred thresholds fixed in "
        "advance: it tests them together (its default), or one after another from the highest down, until "
        "one fails."
    )
    header = ["tool", "bound missed on new data", "true recall %", "none found"]
    return Sheet(title="A bound on precision, by other tools", text=[text], header=header, rows=lines)


def _intervals(scale: Scale, say: Say) -> Sheet:
    truth, calibration_set = (
        SimulatedRows.simulate(scale.rows, 10**6),
        SimulatedRows.simulate(CALIBRATION_ROWS, 0),
    )
    boundary = _find_boundary(calibration_set, HIGH_BOUND)
    if boundary is None:
        return Sheet(title="Intervals of a precision", text=["No boundary was found on these few rows."])
    precision = float(truth.label[truth.flagged_by(boundary)].mean())
    lines: list[Row] = []
    for size in FEW_ROWS:
        say(f"intervals of a precision from {size} rows")
        exact = normal = files = flagged_rows = 0
        for seed in range(scale.repetitions):
            rows = SimulatedRows.simulate(size, 10**5 + seed)
            flagged = rows.flagged_by(boundary)
            hits, alerts = int((flagged & rows.label).sum()), int(flagged.sum())
            if alerts:
                files, flagged_rows = files + 1, flagged_rows + alerts
                report = boundary.evaluate(rows.score, rows.label, uncertainty=rows.uncertainty)
                interval: Any = report.metrics["precision"]
                exact += interval.low <= precision <= interval.high
                normal += _normal_covers(precision, hits, alerts)
        shares = (f"{100 * covered / files:.1f}" for covered in (exact, normal)) if files else ("-", "-")
        lines.append([f"{size:,}", f"{flagged_rows / max(files, 1):.1f}", str(files), *shares])
    text = (
        "The table is for 95 % intervals of the precision of one boundary, whose true value is "
        f"{precision:.3f}. Few rows of each file are flagged. The last columns show the share of "
        f"intervals that contain it, among those of {scale.repetitions} files that have flagged rows."
    )
    header = ["rows", "flagged on average", "files", "uqcli (exact) %", "normal approximation %"]
    return Sheet(title="Intervals of a precision", text=[text], header=header, rows=lines)


def _normal_covers(truth: float, hits: int, trials: int) -> bool:
    """Return whether the interval of the normal approximation covers a share."""
    rate = hits / trials
    return abs(rate - truth) <= NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(rate * (1 - rate) / trials)


STUDY = Study(name="peers", heading="What other tools give", run=run)
