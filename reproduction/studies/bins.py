"""Calibration error by class priors, bin sizes, level and test [TCE tables 2, 6 to 8, 10, 11]."""

from __future__ import annotations

from dataclasses import replace

from reproduction.gaussian import TEST_ROWS, Say, run_tables
from reproduction.generators.gaussian import GaussianModel
from reproduction.library import write
from reproduction.picture import Picture
from reproduction.program import Program
from reproduction.study import Outcome, Scale, Sheet, Status, Study

MIXES = {"right": 0.5, "wrong": 0.4}
BLOCKS = ("--n-min", 300, "--n-max", 1200)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Reproduce the tables, and draw the diagram of the paper for two of their lines."""
    tables = run_tables("bins", program, scale, say)
    return replace(tables, sheets=[*tables.sheets, _diagrams(program)])


def _diagrams(program: Program) -> Sheet:
    pictures = []
    for name, positive_rate in MIXES.items():
        rows, file = f"{name}-mix.parquet", f"tce-{name}-mix.svg"
        write(program.folder / rows, GaussianModel(prevalence=positive_rate).draw(TEST_ROWS))
        report = program.run("tce", rows, *BLOCKS, "--plot", file)
        assert report is not None
        pictures.append(
            Picture(
                name=file,
                title=f"A model trained on 50 % positives, tested on {100 * positive_rate:g} %",
                caption="`uqcli tce --plot` drew this figure from seed 0. The TCE is "
                f"{report['metrics']['tce']:.1f} %. Blue: predictions by bin; black: the positive rate "
                "there; red: predictions that the test rejects.",
                svg=program.read(file),
            )
        )
    return Sheet(
        title="Figures 1 and 5 to 7. The test-based diagram",
        text=[
            "The paper draws the diagram for models of abalone, UCI files and ImageNet. Here it is for "
            "two lines of Table 2."
        ],
        pictures=pictures,
        status=Status.NOT_POSSIBLE,
        verdict="drawings without values, most of sets that no maintained and licensed package has; the "
        "layout on Gaussian classes",
    )


STUDY = Study(name="bins", heading="Calibration error: class priors of Table 2, bins, level, test", run=run)
