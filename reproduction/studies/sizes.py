"""Calibration error by number of test rows [TCE table 12]."""

from __future__ import annotations

from reproduction.gaussian import Say, run_tables
from reproduction.program import Program
from reproduction.study import Outcome, Scale, Study


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Reproduce the tables."""
    return run_tables("sizes", program, scale, say)


STUDY = Study(name="sizes", heading="Calibration error: rows", run=run)
