"""Calibration error of scores with noise [TCE table 9]."""

from __future__ import annotations

from reproduction.gaussian import Say, run_tables
from reproduction.program import Program
from reproduction.study import Outcome, Scale, Study


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Reproduce the tables."""
    return run_tables("noise", program, scale, say)


STUDY = Study(name="noise", heading="Calibration error: noise", run=run)
