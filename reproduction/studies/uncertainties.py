"""What an uncertainty adds to boosted trees, for candidates that anybody can compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

import uqcli
from reproduction.candidates import NAMES, Amount, scored
from reproduction.census import shipped_split
from reproduction.gaussian import Say
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Study
from reproduction.tables import SOURCES, Table
from uqcli.boundary.comparison import UncertaintyComparison

SAMPLE_PRECISION = 0.7
QUICK_ROWS, QUICK_AMOUNT = 4_000, Amount(members=2, trees=10)

TEXT = (
    "`boundary --compare` tests each candidate beside the score of boosted trees (scikit-learn's "
    "`HistGradientBoostingClassifier`). A cell contains the points of recall gained at the same number of "
    "alerts, their 95 % interval, and the p-value, corrected for the {count} candidates (Holm). A cell in "
    'bold has the verdict "helps" or "hurts". Flights of one day count as one observation (`--day day`).'
)
HOLD_OUTS_TEXT = (
    "Packages of PyPI contain the rows. Half of adult and credit train a model. The model of the flights is "
    "trained on 70 % of the days of January to June, and reads positive rates of tail numbers, routes and "
    "trips. The last column is the best candidate if rows of one day are taken as independent: they share "
    "weather and traffic, and by days these gains are not significant."
)
SAMPLE_TEXT = (
    "The last line is for the census sample of `sample_data/`, rows of adult, at precision {precision:g}. "
    "Its score comes from a model that counts evidence, and its uncertainty is the entropy of that model's "
    "Beta distribution."
)
SAMPLE_LINE = "entropy of a model that counts evidence, beside its own score"

Comparisons = Mapping[str, UncertaintyComparison]


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Compare the candidates on every hold-out; a quick run takes few rows of adult."""
    del program
    is_quick = scale.grids == 1
    comparisons: dict[str, Comparisons] = {}
    hold_outs: list[Row] = []
    for name in ["adult"] if is_quick else SOURCES:
        source = SOURCES[name]
        table = source.read()
        if is_quick:
            table = table.head(QUICK_ROWS)
        say(f"models on {name}")
        candidates = pl.DataFrame(scored(table, QUICK_AMOUNT if is_quick else Amount(), seed=0))
        for hold_out, rows in _hold_outs(table, candidates).items():
            say(f"candidates on {hold_out}")
            comparisons[hold_out] = compared(rows, NAMES, source.precision)
            hold_outs.append([hold_out, source.package, *_described(rows, source.precision)])
    sample = compared(shipped_split().fit, ["uncertainty"], SAMPLE_PRECISION)["uncertainty"]
    lines: list[Row] = [
        [description, *(cell(of_hold_out[name]) for of_hold_out in comparisons.values())]
        for name, description in NAMES.items()
    ]
    lines.append([SAMPLE_LINE, *(cell(sample) if name == "adult" else "" for name in comparisons)])
    return Outcome(
        sheets=[
            Sheet(
                title="Candidates for an uncertainty",
                text=[TEXT.format(count=len(NAMES)), SAMPLE_TEXT.format(precision=SAMPLE_PRECISION)],
                header=["uncertainty", *comparisons],
                rows=lines,
            ),
            Sheet(
                title="The rows to choose a rule on",
                text=[HOLD_OUTS_TEXT],
                header=[
                    "rows",
                    "package",
                    "number",
                    "precision",
                    "recall of the score alone %",
                    "as independent",
                ],
                rows=hold_outs,
            ),
        ]
    )


def _described(rows: pl.DataFrame, precision: float) -> Row:
    """Describe rows by their number, the recall of a single threshold, and what ignoring days would show."""
    single = uqcli.find_boundary(rows["score"], rows["label"], precision=str(precision))
    described = [f"{len(rows):,}", f"{precision:g}", f"{100 * (single.fit.recall or 0):.1f}"]
    if "day" not in rows.columns:
        return [*described, ""]
    independent = compared(rows.drop("day"), NAMES, precision)
    best = max(independent, key=lambda name: independent[name].beyond)
    return [*described, f"{NAMES[best]}: {cell(independent[best])}"]


def _hold_outs(table: Table, candidates: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Divide the scored rows, which are all that did not train, into hold-outs, by name."""
    new = ~table.trained
    rows = candidates.with_columns(label=pl.Series(table.label[new]))
    if table.day is not None:
        rows = rows.with_columns(day=table.day.filter(pl.Series(new)))
    return {name: rows.filter(pl.Series(members[new])) for name, members in table.hold_outs.items()}


def compared(rows: pl.DataFrame, candidates: Iterable[str], precision: float) -> Comparisons:
    """Test each candidate beside the score; rows of one day are dependent if there is a column of days."""
    found = uqcli.find_boundary(
        rows["score"],
        rows["label"],
        uncertainty={name: rows[name] for name in candidates},
        day=rows["day"] if "day" in rows.columns else None,
        precision=str(precision),
        compare=True,
    )
    return found.comparisons


def cell(comparison: UncertaintyComparison) -> str:
    """Show gain and p-value of a candidate as ``--compare`` prints them, in bold if the verdict is clear."""
    gain, p_value, verdict = comparison.cells
    text = f"{gain}, p {p_value}"
    return text if verdict == "no evidence" else f"**{text}**"


STUDY = Study(name="uncertainties", heading="What an uncertainty adds to boosted trees", run=run)
