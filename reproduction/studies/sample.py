"""All algorithms on the sample data of uqcli, in the layout of UB table 2."""

from __future__ import annotations

from pathlib import Path

from reproduction.gaussian import Say
from reproduction.program import INFEASIBLE, Program, evaluate_rules
from reproduction.studies.recall import ALGORITHMS
from reproduction.study import Outcome, Row, Scale, Sheet, Study

SAMPLE = Path(__file__).parents[2] / "sample_data"
CALIBRATION_SET, NEW = SAMPLE / "digits_holdout.csv", SAMPLE / "digits_new.csv"
BOUNDS = (0.8, 0.9, 0.95)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make one table; the files are small, so every scale runs all of it."""
    del scale
    say("boundaries on the sample data")
    rule_files = [
        name
        for bound in BOUNDS
        for algorithm in ALGORITHMS
        if _has_boundary(program, algorithm, bound, name := f"{algorithm} {bound}.json")
    ]
    metrics = evaluate_rules(program, rule_files, str(NEW))
    rows: list[Row] = [
        [algorithm, *(_cell(metrics.get(f"{algorithm} {bound}.json")) for bound in BOUNDS)]
        for algorithm in ALGORITHMS
    ]
    verdicts = [f"{bound}: {_verdict(program, bound)}" for bound in BOUNDS]
    text = (
        "Thresholds are chosen on `sample_data/digits_holdout.csv` (899 rows) and measured on "
        "`digits_new.csv`. A cell contains recall and precision in per cent on the test set, with the "
        "interval of the precision. With so few rows, differences of a few points are not "
        f"significant. Verdicts of `--compare` at precision {'; '.join(verdicts)}."
    )
    return Outcome(
        sheets=[
            Sheet(
                title="Table 2's layout on the sample data",
                text=[text],
                header=["algorithm", *(f"precision {bound}" for bound in BOUNDS)],
                rows=rows,
                verdict="the layout on the data that comes with the program",
            )
        ]
    )


def _has_boundary(program: Program, algorithm: str, bound: float, name: str) -> bool:
    command = ("boundary", CALIBRATION_SET, "--precision", bound, "--algorithm", algorithm, "-o", name)
    report = program.run(*command, allowed=(0, INFEASIBLE))
    return report is not None and bool(report["feasible"])


def _verdict(program: Program, bound: float) -> str:
    command = ("boundary", CALIBRATION_SET, "--precision", bound, "--compare")
    report = program.run(*command, allowed=(0, INFEASIBLE))
    return "no boundary" if report is None else str(report.get("verdict", "not asked"))


def _cell(metrics: dict[str, dict[str, float]] | None) -> str:
    if metrics is None:
        return "none"
    precision = metrics["precision"]
    low, high = (100 * precision[end] for end in ("low", "high"))
    return f"{100 * metrics['recall']['value']:.1f}, {100 * precision['value']:.1f} [{low:.1f}, {high:.1f}]"


STUDY = Study(name="sample", heading="Uncertainty boundary: the sample data", run=run)
