"""``uqcli simulate``: data with known truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import polars as pl

from uqcli.choices import FileFormat
from uqcli.draws import Purpose, blocks
from uqcli.engines.generated import write_frames
from uqcli.errors import UsageError
from uqcli.methods.simulation.posterior import PosteriorModel, PosteriorRows, draw
from uqcli.methods.uncertainty.beta import beta_entropy
from uqcli.reports.simulate import PosteriorParameters, SimulateReport


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """A run of the command."""

    rows: int
    seed: int
    output: str
    output_format: FileFormat | None = None
    model: PosteriorModel = PosteriorModel()


def run(options: SimulateOptions) -> SimulateReport:
    """Draw rows block by block and write them.

    Raises
    ------
    UsageError, DataError
        A parameter makes no sense, or the output cannot be written.
    """
    options.model.check()
    if options.rows < 0 or options.seed < 0:
        raise UsageError("rows or seed below 0", expected="whole numbers of at least 0")
    positives = 0

    def frames() -> Iterator[pl.DataFrame]:
        nonlocal positives
        for rows, random in blocks(options.rows, options.seed, Purpose.SIMULATE):
            part = draw(options.model, rows, random)
            positives += int(part.label.sum())
            yield _frame(part)

    empty = _frame(draw(options.model, 0, next(blocks(1, 0, Purpose.SIMULATE))[1]))
    write_frames(frames(), empty, options.output, options.output_format)
    model = options.model
    return SimulateReport(
        parameters=PosteriorParameters(
            kind="posterior",
            rows=options.rows,
            seed=options.seed,
            tau=model.tau,
            omega=model.omega,
            xi=model.xi,
            prior=model.prior,
            nu=model.nu,
            gamma=list(model.gammas),
        ),
        positives=positives,
    )


def _frame(rows: PosteriorRows) -> pl.DataFrame:
    columns = {field.name: getattr(rows, field.name) for field in fields(PosteriorRows)}
    uncertainty = beta_entropy(rows.alpha1, rows.alpha0)
    return pl.DataFrame({"score": columns.pop("score"), "uncertainty": uncertainty, **columns})
