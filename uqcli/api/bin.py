"""Build grids of counts from arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from uqcli.api.arguments import as_one_run, choice, present, score_rows
from uqcli.api.fitted import Fitted
from uqcli.base import defaults
from uqcli.base.choices import Binning
from uqcli.base.counts import Floats, Ints
from uqcli.base.exact_numbers import size
from uqcli.base.records import dataclass
from uqcli.bin.options import BinRequest
from uqcli.bin.rule import GridArtifact
from uqcli.bin.run import run
from uqcli.jobs.tables import Column


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Grid(Fitted[GridArtifact]):
    """Counts in K x L cells of uncertainty and score; a value v is in bin #{edges <= v}."""

    _saved_as: ClassVar[type[Any]] = GridArtifact

    @property
    def uncertainty_edges(self) -> Floats:
        """Uncertainty edges; float64, shape (K-1,)."""
        return np.array(self.artifact.uncertainty_edges, dtype=np.float64)

    @property
    def score_edges(self) -> Floats:
        """Score edges of each uncertainty bin; float64, shape (K, L-1)."""
        return np.array(self.artifact.score_edges, dtype=np.float64)

    @property
    def count(self) -> Ints:
        """Total weight of each cell; int64, shape (K, L)."""
        return np.array(self.artifact.count, dtype=np.int64)

    @property
    def positives(self) -> Ints:
        """Weight of the positive rows of each cell; int64, shape (K, L)."""
        return np.array(self.artifact.positives, dtype=np.int64)

    def bins_of(self, score: Column, uncertainty: Column | None = None) -> tuple[Ints, Ints]:
        """Return uncertainty bin and score bin of new data; int64, shape (n,) each."""
        added = self._added(self._input_columns(score, uncertainty))
        return added["uncertainty_bin"], added["score_bin"]


@as_one_run
def bin_counts(
    score: Column,
    label: Column,
    *,
    uncertainty: Column | None = None,
    weight: Column | None = None,
    binning: Binning | str = defaults.GRID_BINNING,
    uncertainty_bins: int | None = None,
    score_bins: int | None = None,
    n_min: int | None = None,
    n_max: int | None = None,
) -> Grid:
    """Count rows in a grid of score x uncertainty cells [UB sec. 4]."""
    rule = choice("binning", Binning, binning)
    if uncertainty is None and uncertainty_bins is None:
        uncertainty_bins = 1
    typed = present(uncertainty_bins=uncertainty_bins, score_bins=score_bins, n_min=n_min, n_max=n_max)
    sizes: dict[str, Any] = {name: size(name, str(value)) for name, value in typed.items()}
    request = BinRequest(
        data=score_rows(score, label, uncertainty=uncertainty, weight=weight), binning=rule, **sizes
    )
    result = run(request)
    return Grid(artifact=result.artifact, notes=result.report.warnings)
