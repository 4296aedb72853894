"""Runs a small part of ``make faults`` with fixed seeds."""

import pytest

from tests.faults.findings import Findings
from tests.faults.interruptions import killed_watches, kills, signals
from tests.faults.places import full_disks, read_only_places, vanishing_inputs
from tests.faults.workload import lines, make_files

SIZES = {"small": 500, "medium": 20_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    fault_folder = tmp_path_factory.mktemp("faults")
    make_files(fault_folder, SIZES)
    return fault_folder


SECTIONS = {
    "signals": lambda findings, folder: signals(findings, lines(folder, SIZES)[8:10], 3, seed=2),
    "kills": lambda findings, folder: kills(findings, lines(folder, SIZES)[8:11], 2, seed=2),
    "killed watches": lambda findings, folder: killed_watches(findings, folder, 3, seed=2),
    "full disks": lambda findings, folder: full_disks(findings, lines(folder, SIZES)[8:10], [16384]),
    "read-only places": lambda findings, folder: read_only_places(findings, lines(folder, SIZES)[:1]),
    "vanishing inputs": lambda findings, folder: vanishing_inputs(findings, folder, 2, seed=2),
}


@pytest.mark.faults
@pytest.mark.parametrize("section", SECTIONS)
def test_every_guarantee_holds(folder, section):
    findings = Findings()
    SECTIONS[section](findings, folder)
    assert findings.breaches == []
    assert sum(findings.counts.values()) > 0
