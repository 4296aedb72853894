"""Count rows by unit (a day, a customer, a fold of these), by decision or cell, and by label, in one pass."""

from __future__ import annotations

from typing import Final

import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.records import dataclass
from uqcli.engines.local.count.keys import least_keys
from uqcli.engines.local.count.part import Codes, Part
from uqcli.engines.local.count.rows import CountableRows
from uqcli.engines.protocol import Places
from uqcli.kernels.pooling import Keys
from uqcli.kernels.units import count_places

_BUCKETS: Final = 1 << 12
"""Ranges of score keys, each with the first edge to compare with; they fit into the CPU cache."""

_FEW_EDGES: Final = 4
"""Edges up to which all are compared."""

_LARGEST: Final = int(np.iinfo(np.int64).max)


def counted_by_unit(rows: CountableRows, column: str, unit: Ints, places: Places) -> Keys:
    """Count the rows by unit, column and label (see ``CountTable.counted``)."""
    unit_of_code = np.zeros(len(rows.read().levels[column]), dtype=np.int64)
    unit_of_code[rows.read().clusters(column, rows.only)[1]] = unit
    size, columns = int(unit.max(initial=-1)) + 1, places.columns
    is_weighted = rows.request.roles.weight is not None
    sums: Keys = np.zeros(2 * size * columns, dtype=np.int64 if is_weighted else np.int32)
    uncertain = len(places.uncertainty_edges) > 0
    edges: dict[tuple[type, type], _Edges] = {}
    for part in rows.undivided(("score", "uncertainty") if uncertain else ("score",)):
        score = part.keys["score"]
        uncertainty = part.keys["uncertainty"] if uncertain else score
        widths = score.dtype.type, uncertainty.dtype.type
        if widths not in edges:
            edges[widths] = _Edges.of(places, score, uncertainty)
        edges[widths].count(part, (score, uncertainty), unit_of_code, part.codes[column], sums)
    return sums.reshape(size, columns, 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Edges:
    """Edges of places as keys of one width, and where a score is looked for among them."""

    places: Places
    ends: Ints
    edges: Ints
    starts: Ints
    least: int
    shift: int

    @classmethod
    def of(cls, places: Places, score: Keys, uncertainty: Keys) -> _Edges:
        """Convert the edges to keys as wide as those of the rows."""
        ends = least_keys(places.uncertainty_edges, uncertainty.dtype).astype(np.int64)
        edges = least_keys(places.score_edges.ravel(), score.dtype).astype(np.int64)
        edges = edges.reshape(places.score_edges.shape)
        finite = edges[np.isfinite(places.score_edges)]
        low, high = (int(finite.min()), int(finite.max())) if len(finite) else (0, 0)
        buckets = 1 if len(finite) <= _FEW_EDGES * len(edges) else _BUCKETS
        shift = ((high - low) // buckets).bit_length()
        first = np.array([min(low + (bucket << shift), _LARGEST) for bucket in range(buckets)])
        starts = np.stack([np.searchsorted(of_bin, first, side="right") for of_bin in edges])
        starts[:, 0] = 0  # which also has all lower scores
        return cls(
            places=places, ends=ends, edges=edges.ravel(), starts=starts.ravel(), least=low, shift=shift
        )

    def count(
        self, part: Part, numbers: tuple[Keys, Keys], unit_of_code: Ints, code: Codes, sums: Keys
    ) -> None:
        """Add the rows of a part, of which ``numbers`` are the scores and uncertainties, to the sums."""
        (weight,) = part.weight or (np.ones(1, dtype=np.int64),)
        count_places.run(
            part.rows // ROWS_PER_STEP,
            *numbers,
            code,
            unit_of_code,
            self.ends,
            self.edges,
            self.starts,
            self.least,
            self.shift,
            self.places.column.ravel(),
            self.places.columns,
            part.negatives,
            weight,
            sums,
        )
