"""Calibration error by class mix, bin sizes, level and test [TCE tables 2, 6 to 8, 10, 11]."""

from __future__ import annotations

from reproduction.gaussian import Say, run_tables
from reproduction.program import Program
from reproduction.study import Outcome, Scale, Study


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make the tables again."""
    return run_tables("bins", program, scale, say)


STUDY = Study(name="bins", heading="Calibration error: class mixes of Table 2, bins, level, test", run=run)
