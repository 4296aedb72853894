"""Lists the studies in the order of the page."""

from __future__ import annotations

from reproduction.studies import (
    bias,
    bins,
    dependent_rows,
    example,
    guarantees,
    heterogeneous,
    mixes,
    noise,
    peers,
    recalibration,
    recall,
    risk_control,
    sample,
    shift,
    sizes,
    small_jobs,
    truth,
    uci,
    uncertainties,
    undersampling,
)
from reproduction.study import Study

STUDIES: tuple[Study, ...] = (
    bins.STUDY,
    mixes.STUDY,
    noise.STUDY,
    sizes.STUDY,
    truth.STUDY,
    uci.STUDY,
    bias.STUDY,
    recall.STUDY,
    sample.STUDY,
    undersampling.STUDY,
    example.STUDY,
    heterogeneous.STUDY,
    shift.STUDY,
    recalibration.STUDY,
    guarantees.STUDY,
    peers.STUDY,
    risk_control.STUDY,
    uncertainties.STUDY,
    dependent_rows.STUDY,
    small_jobs.STUDY,
)
