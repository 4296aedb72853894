"""Tests that an alarm is saved and ends the run, and that a failed check prevents saving."""

from dataclasses import dataclass

import pytest

from uqcli.base.choices import Binning
from uqcli.base.errors import GateError
from uqcli.bin.grid import GridSpec
from uqcli.bin.run import bin_rows
from uqcli.engines.request import DataRequest, Roles
from uqcli.jobs.deliver import deliver
from uqcli.jobs.options import ReportOptions
from uqcli.reports.document import Document
from uqcli.reports.format import RunContext
from uqcli.rules.result import Result

ROLES = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")


@dataclass(frozen=True)
class Alarm:
    checked_metrics = {"": {"e_value": 120.0}}  # noqa: RUF012

    def payload(self):
        return {"alarm": True, "metrics": dict(self.checked_metrics[""])}

    def document(self):
        return Document(title="Alarm")


@pytest.fixture
def grid(prepared_files):
    data = DataRequest(inputs=(str(prepared_files / "data.parquet"),), roles=ROLES)
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=2, score_bins=4)
    return bin_rows(data, spec).artifact


@pytest.mark.parametrize(
    ("saved_though_failed", "check", "written"),
    [(True, None, True), (False, None, False), (True, "e_value>100", False)],
)
def test_failed_results_are_saved_only_if_marked(grid, tmp_path, saved_though_failed, check, written):
    output = tmp_path / "state.json"
    result = Result(
        report=Alarm(),
        artifact=grid,
        failure=GateError(["an alarm"]),
        saved_though_failed=saved_though_failed,
    )
    options = ReportOptions(quiet=True, fail_if=() if check is None else (check,))
    with pytest.raises(GateError):
        deliver(result, options, context=RunContext(command="watch"), output=str(output))
    assert output.exists() is written
