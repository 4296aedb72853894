"""Guarantees of uqcli beyond the papers: certificates, permutation tests, intervals."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from reproduction.gaussian import Say
from reproduction.generators.gaussian import GaussianModel
from reproduction.library import POSTERIOR, write
from reproduction.program import INFEASIBLE, Program, evaluate_rules
from reproduction.study import Outcome, Row, Scale, Sheet, Study

CALIBRATION_ROWS, BOUND, RISK = 20_000, 0.7, 0.1
COMPARED_ROWS = 5_000
FURTHER = "`make statistical` tests the same guarantees a thousand times."


@dataclass(kw_only=True)
class Tally:
    """Counts of boundaries over calibration sets."""

    missed: int = 0
    found: int = 0
    recalls: list[float] = field(default_factory=list)
    covered: int = 0


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make the two tables."""
    seeds = scale.few_seeds
    return Outcome(sheets=[_certificate(program, scale, say, seeds), _permutation_test(program, say, seeds)])


def _certificate(program: Program, scale: Scale, say: Say, seeds: int) -> Sheet:
    write(program.folder / "truth.parquet", POSTERIOR.draw(scale.rows, 10**6))
    rules = {
        "the exact optimum (what a user would otherwise take)": ("--algorithm", "vw-dpmt"),
        "the smoothed optimum": ("--algorithm", "smooth"),
        f"certified at a risk of {RISK:g}": ("--certify", RISK),
    }
    tallies = {name: Tally() for name in rules}
    for seed in range(seeds):
        say(f"certificates, hold-out {seed + 1} of {seeds}")
        for name, draw_seed in (("fit", seed), ("new", 10**5 + seed)):
            write(program.folder / f"{name}.parquet", POSTERIOR.draw(CALIBRATION_ROWS, draw_seed))
        tallies_by_file = {}
        for index, (name, options) in enumerate(rules.items()):
            command = ("boundary", "fit.parquet", "--precision", BOUND, *options, "-o", f"{index}.json")
            report = program.run(*command, allowed=(0, INFEASIBLE))
            if report is not None and report["feasible"]:
                tallies_by_file[f"{index}.json"] = tallies[name]
        _count(program, tallies_by_file)
    rows: list[Row] = [
        [
            name,
            f"{tally.missed} of {tally.found}",
            f"{100 * statistics.mean(tally.recalls):.1f}" if tally.recalls else "-",
            str(seeds - tally.found),
            f"{tally.covered} of {tally.found}",
        ]
        for name, tally in tallies.items()
    ]
    text = (
        f"Each boundary must have a precision of at least {BOUND}. There are {seeds} calibration sets "
        f"of {CALIBRATION_ROWS:,} simulated rows, and {scale.rows:,} other rows give the true precision and "
        "recall. A target is missed if the true precision is below the bound. The last column counts "
        f"95 % intervals of the precision, measured on {CALIBRATION_ROWS:,} rows of new data, that contain "
        "the true precision. All three boundaries are measured on the same new data. "
    )
    return Sheet(
        title="Certificate and intervals",
        text=[text + FURTHER],
        header=[
            "boundary",
            "target missed",
            "true recall %",
            "none found",
            "intervals that contain the truth",
        ],
        rows=rows,
    )


def _count(program: Program, tallies_by_file: dict[str, Tally]) -> None:
    """Count missed targets by the true rates, and intervals from new data that cover these rates."""
    if not tallies_by_file:
        return
    evaluations = [
        evaluate_rules(program, list(tallies_by_file), rows) for rows in ("truth.parquet", "new.parquet")
    ]
    for name, tally in tallies_by_file.items():
        truth, new = (evaluation[name] for evaluation in evaluations)
        tally.found += 1
        tally.missed += truth["precision"]["value"] < BOUND
        tally.recalls.append(truth["recall"]["value"])
        tally.covered += new["precision"]["low"] <= truth["precision"]["value"] <= new["precision"]["high"]


def _permutation_test(program: Program, say: Say, seeds: int) -> Sheet:
    cases: dict[str, tuple[Callable[[Path, int], None], tuple[str, ...]]] = {
        "has no information beyond the score (two Gaussians)": (_uninformative, ("--uncertainty", "x")),
        "has little information (a posterior network, evidence 40 to 1,000 rows)": (_weakly_informative, ()),
        "has much information (positives 0.6 to 1.4 times as frequent as the score says)": (_informative, ()),
    }
    rows: list[Row] = []
    for name, (write_rows, columns) in cases.items():
        say(f"placebo test: uncertainty that {name}")
        verdicts: list[str] = []
        larger_recalls = 0
        for seed in range(seeds):
            write_rows(program.folder / "rows.parquet", seed)
            command = ("boundary", "rows.parquet", "--precision", BOUND, "--compare", *columns)
            report = program.run(*command, "-o", "boundary.json", allowed=(0, INFEASIBLE))
            if report is None:
                continue
            verdicts.append(report.get("verdict", ""))
            score_recall = report["metrics"]["score_only_recall"]
            larger_recalls += (
                report["feasible"] and score_recall is not None and report["metrics"]["recall"] > score_recall
            )
        counts = [f"{verdicts.count(verdict)} of {seeds}" for verdict in ("helps", "hurts")]
        rows.append([name, *counts, f"{larger_recalls} of {seeds}"])
    text = (
        f"`--compare` tests on {seeds} files of {COMPARED_ROWS:,} rows each whether the uncertainty "
        f"helps at precision {BOUND}. The test has level 5 %, and the verdict also needs half a point "
        "of recall. A posterior network gains about a point (Figure 5 (c)), which so few rows seldom "
        "show. The test must not take random variation for a gain. The last column shows what a user "
        "would see without the test: more recall on the calibration set."
    )
    return Sheet(
        title="Does the uncertainty help? (Table 3 of the uncertainty paper asks the same)",
        text=[text],
        header=["uncertainty", "helps", "hurts", "more recall on the calibration set"],
        rows=rows,
    )


def _uninformative(path: Path, seed: int) -> None:
    write(path, GaussianModel().draw(COMPARED_ROWS, seed))


def _weakly_informative(path: Path, seed: int) -> None:
    write(path, POSTERIOR.draw(COMPARED_ROWS, seed))


def _informative(path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    score, uncertainty = random.beta(1, 2, COMPARED_ROWS), random.random(COMPARED_ROWS)
    label = random.random(COMPARED_ROWS) < np.clip(score * (1.4 - 0.8 * uncertainty), 0, 1)
    pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label}).write_parquet(path)


STUDY = Study(name="promises", heading="Targets and guarantees beyond the papers", run=run)
