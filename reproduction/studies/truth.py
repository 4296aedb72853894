"""Calibration error of true probabilities by number of rows, which the paper does not show."""

from __future__ import annotations

import statistics

from reproduction.gaussian import Say
from reproduction.generators.gaussian import GaussianModel
from reproduction.library import write
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Study

SIZES = (1_000, 6_000, 50_000, 1_000_000)
TEXT = (
    "The table shows the TCE in per cent, as median (lowest to highest), for two columns of the "
    "same rows, 40 % of them positive. One column contains the true probabilities, which no test "
    "should reject. The other contains the scores of a model trained where half of the rows were "
    "positive. With the paper's bins, a twentieth of the rows, the tests reject true "
    "probabilities once the file is large enough. The program's own bins narrow as files grow."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Measure both columns with both rules of bin sizes."""
    rows: list[Row] = []
    seeds = max(1, scale.few_seeds // 2)
    for size in [size for size in SIZES if size <= scale.rows]:
        say(f"true probabilities of {size} rows")
        tce_values: dict[tuple[str, str], list[float]] = {}
        for seed in range(seeds):
            write(program.folder / "rows.parquet", GaussianModel(prevalence=0.4).draw(size, seed))
            for column in ("true_positivity", "score"):
                for sizing in ("paper", "auto"):
                    report = program.run("tce", "rows.parquet", "--score", column, "--bin-sizes", sizing)
                    assert report is not None
                    tce_values.setdefault((column, sizing), []).append(report["metrics"]["tce"])
        rows.append([f"{size:,}", *(_cell(values) for values in tce_values.values())])
    header = [
        "rows",
        "truth, paper's bins",
        "truth, ours",
        "wrong priors, paper's bins",
        "wrong priors, ours",
    ]
    sheet = Sheet(
        title="True probabilities", text=[f"{TEXT} There are {seeds} seeds."], header=header, rows=rows
    )
    return Outcome(sheets=[sheet])


def _cell(values: list[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


STUDY = Study(name="truth", heading="Calibration error: what the paper does not show", run=run)
