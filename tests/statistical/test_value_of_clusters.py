"""Simulations of amounts whose rows depend on each other: intervals of what an uncertainty adds are valid."""

import numpy as np
import polars as pl
import pytest

from tests.statistical.clustered import cluster_of_rows, labels, normals, uniforms
from tests.statistical.levels import lowest, repetitions
from uqcli.base.counts import bin_of
from uqcli.boundary.calibration_set import CalibrationRows
from uqcli.boundary.clusters import ClusteredGrid
from uqcli.boundary.options import BoundaryRequest, GridOptions
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.request import DataRequest, Roles, in_memory

REPETITIONS = repetitions(100)
MONEY = constraint_from(gain="gain", cost="15")
MEAN_LOG = 2.5


class _Seen(ClusteredGrid):
    """Grid that keeps what is compared, to compute its true worth."""

    def limits_of_value(self, flagged, by_score):
        """Keep the cells that are flagged by the one and not by the other."""
        object.__setattr__(self, "change", flagged.astype(np.int64) - by_score)
        return super().limits_of_value(flagged, by_score)


@pytest.mark.parametrize(
    ("clusters", "sizes", "correlation", "spread"),
    [(60, "1-30", 0.5, 0.8), (60, "1-30", 0.2, 1.5), (200, 10, 0.5, 0.8)],
)
def test_intervals_of_the_value_gained_cover(clusters, sizes, correlation, spread):
    """Above an uncertainty of one half the score says nothing; amounts of a customer are alike."""
    runs, covered, known = 12 if REPETITIONS <= 100 else REPETITIONS // 2, 0, 0
    for seed in range(runs):
        random = np.random.default_rng([22, clusters, int(10 * correlation), seed])
        cluster = cluster_of_rows(random, clusters, sizes)
        score, uncertainty = uniforms(random, cluster, 0.5), uniforms(random, cluster, 0.9)
        rate = np.where(uncertainty > 0.5, 0.5, score)
        gain = np.exp(MEAN_LOG + spread * normals(random, cluster, 0.5)).round(2)
        frame = pl.DataFrame(
            {
                "score": score,
                "uncertainty": uncertainty,
                "label": labels(random, cluster, rate, correlation).astype(int),
                "gain": gain,
                "customer": [f"k{index}" for index in cluster],
            }
        )
        roles = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")
        data = DataRequest(inputs=in_memory(frame), roles=roles).with_amounts(MONEY.amounts)
        request = BoundaryRequest(data=data.clustered_by("customer"), source=GridOptions(seed=seed))
        rows = CalibrationRows.from_request(request, MONEY, uncertain=True)
        single, cells = rows.clustered_rows, rows.compared_cells
        grid = _Seen.from_clusters(cells, single, seed, MONEY.values(single.positive, single.amounts))
        value = grid.value_gained(MONEY)
        if value.low is None:
            continue
        new, doubt = random.random((2, 20_000))
        chance = np.where(doubt > 0.5, 0.5, new)
        worth = chance * np.exp(MEAN_LOG + spread**2 / 2) - (1 - chance) * 15
        cell = bin_of(doubt, cells.uncertainty_edges) * grid.length + bin_of(new, cells.rows[0].lower[1:])
        of_fold = grid.count.sum(axis=1) / len(score)
        truth = len(score) * float(((of_fold @ grid.change)[cell] * worth).mean())
        known += 1
        covered += value.low <= truth <= value.high
    assert known > runs / 2
    assert covered / known >= lowest(0.95, known, drawn=runs), (covered, known)
