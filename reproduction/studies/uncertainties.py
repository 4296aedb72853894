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
from uqcli.boundary.comparison_report import UncertaintyComparison

SAMPLE_PRECISION = 0.7
QUICK_ROWS, QUICK_AMOUNT = 4_000, Amount(members=2, trees=10)

TEXT = (
    "`boundary --compare` tests each candidate beside the score of boosted trees (scikit-learn's "
    "`HistGradientBoostingClassifier`). A cell contains the points of recall gained at the same number of "
    "alerts, their 95 % interval, and the p-value, corrected for the {count} candidates (Holm). A cell in "
    'bold has the verdict "helps" or "hurts".'
)
HOLD_OUT_TEXT = (
    "{name}: {rows:,} rows, precision {precision:g}, at which boosted trees alone find {recall:.1f} % of the "
    "positives (rows: {package})."
)
DAY_TEXT = (
    "Flights of one day count as one observation (`--day day`). Taken as independent, the best candidate on "
    "{name} is the {description}: {cell}."
)
SAMPLE_TEXT = (
    "The last line is for the census sample of `sample_data/`, rows of adult, at precision {precision:g}. "
    "Its score comes from a model that counts evidence, and its uncertainty is the entropy of that model's "
    "Beta distribution."
)
SAMPLE_LINE = "a model that counts evidence: its own entropy beside its own score"

Comparisons = Mapping[str, UncertaintyComparison]


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Compare the candidates on every hold-out; a quick run takes few rows of adult."""
    del program
    is_quick = scale.grids == 1
    comparisons: dict[str, Comparisons] = {}
    texts = []
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
            single = uqcli.find_boundary(rows["score"], rows["label"], precision=str(source.precision))
            texts.append(
                HOLD_OUT_TEXT.format(
                    name=hold_out,
                    rows=len(rows),
                    precision=source.precision,
                    recall=100 * (single.fit.recall or 0),
                    package=source.package,
                )
            )
            if "day" in rows.columns:
                independent = compared(rows.drop("day"), NAMES, source.precision)
                best = max(independent, key=lambda candidate: independent[candidate].beyond)
                texts.append(
                    DAY_TEXT.format(name=hold_out, description=NAMES[best], cell=cell(independent[best]))
                )
    sample = compared(shipped_split().fit, ["uncertainty"], SAMPLE_PRECISION)["uncertainty"]
    lines: list[Row] = [
        [description, *(cell(of_hold_out[name]) for of_hold_out in comparisons.values())]
        for name, description in NAMES.items()
    ]
    lines.append([SAMPLE_LINE, *(cell(sample) if name == "adult" else "" for name in comparisons)])
    sheet = Sheet(
        title="Candidates for an uncertainty",
        text=[
            TEXT.format(count=len(NAMES)),
            " ".join(texts),
            SAMPLE_TEXT.format(precision=SAMPLE_PRECISION),
        ],
        header=["uncertainty", *comparisons],
        rows=lines,
    )
    return Outcome(sheets=[sheet])


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
