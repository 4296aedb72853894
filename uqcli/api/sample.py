"""Choose the rows to label for a certificate, from arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uqcli.api.arguments import as_one_run
from uqcli.base import defaults
from uqcli.base.choices import SampleGoal
from uqcli.base.counts import Bools, Floats
from uqcli.base.defaults import LABEL, SCORE
from uqcli.base.errors import DataError
from uqcli.base.options import Intervals
from uqcli.base.records import dataclass
from uqcli.boundary.certificate_rows import PILOT, SAMPLED_ABOVE, SAMPLED_BELOW, TEST
from uqcli.engines.open import open_engine
from uqcli.engines.request import SAMPLED_FOR, SAMPLING_WEIGHT, DataRequest
from uqcli.jobs.tables import Column, Decimal, by_name, decimal_text, table_of
from uqcli.sample.certificate import prepare_certificate
from uqcli.sample.options import SampleRequest


@dataclass(frozen=True, kw_only=True, repr=False)
class CertificateSample:
    """Rows to label for a certificate.

    Attributes
    ----------
    weight : float64, shape (n,)
        Sampling weights; 0 for rows that are not drawn.
    above, below
        Lowest score of the rows from which they were drawn, or highest one for ``max_omission``, as
        ``find_boundary`` takes it; the other is None.
    is_pilot
        Whether they are the pilot, after which the rest is drawn.
    notes
        How many labels are needed at least, and cautions.
    """

    weight: Floats
    above: float | None
    below: float | None
    is_pilot: bool
    notes: tuple[str, ...]

    @property
    def drawn(self) -> Bools:
        """Whether rows are drawn; bool, shape (n,)."""
        return self.weight > 0

    def labelled(self, score: Column, label: Column) -> dict[str, Column]:
        """Return the columns of the drawn rows, as ``pilot`` takes them."""
        drawn, edge = np.flatnonzero(self.drawn), self.below if self.above is None else self.above
        if len(label) != len(drawn):
            raise DataError(f"{len(label)} labels of {len(drawn)} drawn rows", expected="one for each")
        return {
            SCORE: np.asarray(score)[drawn],
            LABEL: label,
            SAMPLING_WEIGHT: self.weight[drawn],
            SAMPLED_BELOW if self.above is None else SAMPLED_ABOVE: np.full(len(drawn), edge),
            SAMPLED_FOR: [PILOT if self.is_pilot else TEST] * len(drawn),
        }


@as_one_run
def sample_for_certificate(
    score: Column,
    *,
    precision: Decimal | None = None,
    max_omission: Decimal | None = None,
    budget: int,
    pilot: Mapping[str, Column] | None = None,
    seed: int = defaults.SEED,
) -> CertificateSample:
    """Draw the rows to label for a certificate: a pilot, or with one the rest."""
    report, data, added = prepare_certificate(
        SampleRequest(
            data=DataRequest(inputs=(), frame=table_of({SCORE: score})),
            for_=SampleGoal.CERTIFICATE,
            precision=None if precision is None else decimal_text("precision", precision),
            max_omission=None if max_omission is None else decimal_text("max_omission", max_omission),
            budget=budget,
            pilot=None if pilot is None else table_of(by_name(pilot)),
            intervals=Intervals(seed=seed),
        )
    )
    parts = [added.compute(rows)[SAMPLING_WEIGHT] for rows in open_engine(data.engine).batches(data)]
    return CertificateSample(
        weight=np.concatenate(parts).astype(np.float64, copy=False),
        above=None if report.below else report.edge,
        below=report.edge if report.below else None,
        is_pilot=report.pilot is None,
        notes=tuple(report.payload()["notes"]),
    )
