"""Calibration error under right and wrong class priors [TCE table 13]."""

from __future__ import annotations

from reproduction.gaussian import Say, run_tables
from reproduction.program import Program
from reproduction.study import Outcome, Scale, Study


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Reproduce the tables."""
    return run_tables("mixes", program, scale, say)


STUDY = Study(name="mixes", heading="Calibration error: class priors of Table 13", run=run)
