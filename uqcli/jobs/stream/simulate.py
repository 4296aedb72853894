"""``uqcli simulate``: simulate data with known truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import polars as pl

from uqcli.choices import Simulation
from uqcli.defaults import MAX_ROWS
from uqcli.draws import Purpose, blocks, check_seed
from uqcli.engines.open import write_frames
from uqcli.errors import UsageError
from uqcli.jobs.result import Result
from uqcli.jobs.stream.output import RowsOutput
from uqcli.methods.stream.beta import beta_entropy
from uqcli.methods.stream.gaussian import GaussianModel, GaussianRows, draw_gaussian, train
from uqcli.methods.stream.posterior import PosteriorModel, PosteriorRows, draw, expected_curves
from uqcli.records import dataclass
from uqcli.reports.stream.simulate import SimulateReport

Draw = Callable[[int, np.random.Generator], pl.DataFrame]


@dataclass(frozen=True, kw_only=True)
class SimulateRequest:
    """Request for simulated data; the model determines the simulation."""

    rows: int
    seed: int
    output: RowsOutput = RowsOutput()
    model: PosteriorModel | GaussianModel = PosteriorModel()


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """A simulation.

    Attributes
    ----------
    parameters
        Model parameters, including learned ones.
    draw
        Function from a number of rows and a generator to a frame.
    """

    parameters: Mapping[str, Any]
    draw: Draw


def run(request: SimulateRequest) -> Result[SimulateReport, None]:
    """Simulate rows block by block and write them.

    Raises
    ------
    UsageError, DataError
        A parameter is out of range, or the output cannot be written.
    """
    simulated, positives = simulated_by(request), 0

    def count_positives() -> Iterator[pl.DataFrame]:
        nonlocal positives
        for frame in frames(request, simulated):
            positives += int(frame["label"].sum())
            yield frame

    empty = simulated.draw(0, next(blocks(1, 0, Purpose.SIMULATE))[1])
    write_frames(count_positives(), empty, request.output)
    curves = expected_curves(request.model) if isinstance(request.model, PosteriorModel) else ()
    report = SimulateReport(parameters=simulated.parameters, positives=positives, curves=curves)
    return Result(report=report, artifact=None)


def simulated_by(request: SimulateRequest) -> Simulated:
    """Set up the simulation of a request.

    Raises
    ------
    UsageError
        A parameter is out of range.
    """
    if not 0 <= request.rows <= MAX_ROWS:
        raise UsageError(f"{request.rows} rows", expected=f"0 to {MAX_ROWS}")
    check_seed(request.seed)
    request.model.check()
    if isinstance(request.model, PosteriorModel):
        return _posterior(request, request.model)
    return _gaussian(request, request.model)


def frames(request: SimulateRequest, simulated: Simulated) -> Iterator[pl.DataFrame]:
    """Simulate all rows block by block."""
    for rows, random in blocks(request.rows, request.seed, Purpose.SIMULATE):
        yield simulated.draw(rows, random)


def _posterior(request: SimulateRequest, model: PosteriorModel) -> Simulated:
    parameters = asdict(model)
    parameters["gamma"] = list(parameters.pop("gammas"))
    return Simulated(
        parameters=_parameters(Simulation.POSTERIOR, request, parameters),
        draw=lambda rows, random: _posterior_frame(draw(model, rows, random)),
    )


def _gaussian(request: SimulateRequest, model: GaussianModel) -> Simulated:
    intercept, slope = train(model, request.seed)
    parameters = {**asdict(model), "intercept": intercept, "slope": slope}
    return Simulated(
        parameters=_parameters(Simulation.GAUSSIAN, request, parameters),
        draw=lambda rows, random: pl.DataFrame(
            _columns(draw_gaussian(model, (intercept, slope), rows, random))
        ),
    )


def _parameters(kind: Simulation, request: SimulateRequest, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": str(kind), "rows": request.rows, "seed": request.seed, **parameters}


def _posterior_frame(rows: PosteriorRows) -> pl.DataFrame:
    columns = _columns(rows)
    uncertainty = beta_entropy(rows.alpha1, rows.alpha0)
    return pl.DataFrame({"score": columns.pop("score"), "uncertainty": uncertainty, **columns})


def _columns(rows: PosteriorRows | GaussianRows) -> dict[str, np.ndarray]:
    return {field.name: getattr(rows, field.name) for field in fields(rows)}
