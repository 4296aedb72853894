"""Recall at a precision bound, by undersampling of negatives in training [UB figure 5 (c)]."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reproduction.gaussian import Say
from reproduction.generators.posterior import PosteriorModel
from reproduction.library import write
from reproduction.picture import BLUE, INK, Picture, draw_svg
from reproduction.program import INFEASIBLE, Program, recalls
from reproduction.study import Outcome, Row, Scale, Sheet, Status, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TAUS = (1, 1.5, 2.5, 5, 10)
SEEDS = 5
BOUND = 0.6
MODEL = PosteriorModel(nu=1.0, gammas=(0.01, 0.05, 0.25))
ALGORITHMS = ("st", "ew-dpmt", "vw-dpmt")
Recalls = dict[tuple[str, float], list[float]]
TEXT = (
    "The paper's figure is of networks on Avazu at precision 0.7. At each tau, training keeps 1 "
    "of tau negatives. We choose boundaries on one simulated file and measure recall on another. "
    "Each has {rows:,} rows, evidence of 8 to 200 rows, 3 x 500 bins and precision {bound}. "
    "Recall is in per cent, the mean over {seeds} seeds with its standard error. None: no "
    "boundary met the bound on its own file."
)
REASON = (
    "A simulated model knows its own distribution and gains nothing from balanced classes, so "
    "recall need not rise first. The few distinct scores fill cells unequally, while ew-dpmt "
    "assumes equal cells (see Table 2). The algorithm vw-dpmt counts the rows of each cell, so "
    "its gain shows what the uncertainty is worth here."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Run all levels of undersampling."""
    seeds, taus, rows = min(SEEDS, scale.few_seeds), TAUS[:: max(1, 4 // scale.grids)], scale.rows // 5
    recalls_by_setting: Recalls = {(name, tau): [] for name in ALGORITHMS for tau in taus}
    for tau in taus:
        model = replace(MODEL, tau=float(tau))
        say(f"recall by undersampling, tau {tau:g}")
        for seed in range(seeds):
            for name, simulation_seed in (("fit", seed), ("new", 10**5 + seed)):
                write(program.folder / f"{name}.parquet", model.draw(rows, simulation_seed))
            for path in program.folder.glob("*.json"):
                path.unlink()
            for name in ALGORITHMS:
                command = ("boundary", "fit.parquet", "--precision", BOUND, "--algorithm", name)
                program.run(*command, "-o", f"{name}.json", allowed=(0, INFEASIBLE))
            recall = recalls(program, "new.parquet")
            for name in ALGORITHMS:
                if name in recall:
                    recalls_by_setting[name, tau].append(100 * recall[name])
    return Outcome(sheets=[_sheet(recalls_by_setting, taus, seeds, rows)])


def _sheet(recalls_by_setting: Recalls, taus: Sequence[float], seeds: int, rows: int) -> Sheet:
    rows_of_recalls: list[Row] = [
        [f"{tau:g}", *(_cell(recalls_by_setting[name, tau], seeds) for name in ALGORITHMS)] for tau in taus
    ]
    best = {name: _best(recalls_by_setting, name, taus) for name in ("st", "vw-dpmt")}
    gains = [_mean(recalls_by_setting["vw-dpmt", tau]) - _mean(recalls_by_setting["st", tau]) for tau in taus]
    trends = {
        "recall first rises with tau": min(best.values()) > taus[0],
        "uncertainty gains at every tau": min(gains) > 0,
        "the gain grows with tau": gains == sorted(gains),
    }
    trend_texts = "; ".join(f"{claim}: {'yes' if holds else 'no'}" for claim, holds in trends.items())
    trend = (
        f"The paper's observations, here: {trend_texts}. Recall is highest at tau {best['st']:g} (st) and "
        f"{best['vw-dpmt']:g} (vw-dpmt). At the values of tau in the table, vw-dpmt gains "
        f"{', '.join(f'{gain:.2f}' for gain in gains)} points over st. "
    )
    return Sheet(
        title="Figure 5 (c). Recall by undersampling",
        text=[TEXT.format(rows=rows, bound=BOUND, seeds=seeds), trend + REASON],
        header=["tau", *ALGORITHMS],
        rows=rows_of_recalls,
        status=Status.DIFFERS,
        verdict=f"on simulated data; {trend_texts}",
        pictures=[_picture(recalls_by_setting, taus)],
    )


def _best(recalls_by_setting: Recalls, name: str, taus: Sequence[float]) -> float:
    return max((_mean(recalls_by_setting[name, tau]), tau) for tau in taus)[1]


def _mean(values: list[float]) -> float:
    return statistics.mean(values) if values else 0.0


def _cell(values: list[float], seeds: int) -> str:
    if not values:
        return "none"
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{_mean(values):.2f}{error}" + (f" (of {len(values)})" if len(values) < seeds else "")


def _picture(recalls_by_setting: Recalls, taus: Sequence[float]) -> Picture:
    def plot(panels: list[Axes]) -> None:
        for name, colour in (("st", INK), ("vw-dpmt", BLUE)):
            feasible_taus = [tau for tau in taus if recalls_by_setting[name, tau]]
            means = [_mean(recalls_by_setting[name, tau]) for tau in feasible_taus]
            panels[0].plot(feasible_taus, means, "o-", color=colour, label=name)
        panels[0].set(xlabel="tau: 1 of tau negatives in training", ylabel="recall on new rows, %")
        panels[0].legend()

    return Picture(
        name="undersampling.svg",
        title="Recall by undersampling",
        caption=f"At precision {BOUND}, on new data, mean over the seeds; ew-dpmt is only in the table.",
        svg=draw_svg(1, plot, width=5.6),
    )


STUDY = Study(name="undersampling", heading="Uncertainty boundary: undersampling", run=run)
