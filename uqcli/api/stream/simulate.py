"""Simulate data with known truth as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from uqcli import defaults
from uqcli.api.options import choice, options_of
from uqcli.choices import Simulation
from uqcli.jobs.stream.simulate import SimulateRequest, frames, simulated_by
from uqcli.methods.stream.gaussian import GaussianModel
from uqcli.methods.stream.posterior import PosteriorModel


def simulate(
    kind: Simulation | str, rows: int = 100_000, *, seed: int = defaults.SEED, **model: Any
) -> dict[str, np.ndarray]:
    """Simulate data with known truth [UB sec. 6; LS sec. 6], identical to ``uqcli simulate``.

    Parameters
    ----------
    kind
        posterior or gaussian.
    **model
        Model parameters: tau, omega, xi, prior, nu, gammas; prevalence, train_prevalence, train_rows, noise.

    Returns
    -------
    Columns by name, each of shape (rows,)

    Raises
    ------
    UsageError
        A parameter is out of range.

    Examples
    --------
    >>> sorted(simulate("gaussian", 10))[:2]
    ['label', 'score']
    """
    if choice("kind", Simulation, kind) is Simulation.POSTERIOR:
        request = SimulateRequest(rows=rows, seed=seed, model=options_of(PosteriorModel, model))
    else:
        request = SimulateRequest(rows=rows, seed=seed, model=options_of(GaussianModel, model))
    simulated = simulated_by(request)
    parts = [*frames(request, simulated), simulated.draw(0, np.random.default_rng(0))]
    frame = pl.concat(parts)
    return {name: frame[name].to_numpy() for name in frame.columns}
