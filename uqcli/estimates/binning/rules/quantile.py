"""Bins of equal weight on the score only [TCE sec. 3]."""

from __future__ import annotations

from uqcli.estimates.binning.rules import equi_weight

RULE = equi_weight.RULE
