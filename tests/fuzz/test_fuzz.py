"""Runs a small part of ``make fuzz`` with a fixed seed."""

import pytest

from tests.fuzz.oracle import rows_of, survives_round_trip
from tests.fuzz.run import KINDS, Outcome, fault_of, fuzz
from uqcli.cli.app import run


def test_mutated_inputs_cause_no_fault(tmp_path):
    tally = fuzz(48, 11, tmp_path)
    assert not tally.failures, "\n".join(tally.failures)
    assert {kind for kind, _ in tally.outcomes} == set(KINDS)
    assert sum(count for (_, code), count in tally.outcomes.items() if code == 0) > 10


@pytest.mark.parametrize(
    ("outcome", "fault"),
    [
        (Outcome(0, "", ""), None),
        (Outcome(3, "", "error: x\n"), None),
        (Outcome(1, "", "error: x\n"), "exit 1"),
        (Outcome("TooLongError", "", ""), "exit TooLongError"),
        (Outcome(3, "", "thread 'x' panicked at y\nerror: x\n"), "panicked"),
        (Outcome(3, "", "error: x\nerror: y\n"), "not one line of error"),
        (Outcome(3, "", ""), "not one line of error"),
        (Outcome(0, "", "error: x\n"), "an error with exit 0"),
    ],
)
def test_faults_of_outcomes_are_recognised(outcome, fault):
    assert fault_of(outcome) == fault


def test_the_other_reader_counts_records_and_a_rule_file_survives_a_round_trip(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('a,b\n1,"x\ny"\n\n2,3\n')
    assert rows_of(path) == 2
    path.write_text("score,uncertainty,label\n0.2,1,0\n0.9,2,1\n")
    rule_file = tmp_path / "b.json"
    assert run(["boundary", str(path), "--precision", "0.7", "-q", "-o", str(rule_file), "--no-config"]) == 0
    assert survives_round_trip(rule_file.read_bytes())
