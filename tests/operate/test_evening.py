"""Tests of an evening without anybody, with the real servers: ``make operate``."""

import subprocess

import pytest

from tests.operate.evening import FAULTS, Evening
from tests.operate.servers import RULES, program, watched


@pytest.fixture(scope="module")
def evening(tmp_path_factory):
    evening = Evening(tmp_path_factory.mktemp("evening"))
    yield evening
    evening.store.close()


@pytest.fixture(scope="module")
def alerts(evening, tmp_path_factory):
    with watched(evening.folder / "prom", tmp_path_factory.mktemp("prometheus")) as alerts:
        yield alerts


def test_promtool_takes_the_rules():
    subprocess.run([program("promtool"), "check", "rules", str(RULES)], check=True, stdout=subprocess.DEVNULL)


def test_each_rule_fires_as_soon_as_it_should_and_not_before():
    tests = RULES.parents[2] / "tests" / "operate" / "alerts_test.yml"
    subprocess.run([program("promtool"), "test", "rules", str(tests)], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_who_hears_of_a_fault(evening, alerts, fault):
    evening.start()
    alerts.require(set())  # a healthy evening
    decisions = evening.folder / "decisions.csv"
    before = decisions.read_bytes()
    code, mail = fault.cause(evening)
    assert (code, fault.mail in mail) == (fault.code, True), mail
    assert bool(mail) == bool(fault.mail), mail
    alerts.require({fault.alert} - {""})
    assert fault.caution in evening.page()
    if code:
        assert decisions.read_bytes() == before


def test_a_job_that_never_wrote_its_samples_is_missed(evening, alerts):
    evening.start()
    alerts.require(set())
    (evening.folder / "prom" / "evaluate.prom").unlink()
    alerts.require({"UqcliAbsent"})


def test_there_are_28_faults():
    assert len(FAULTS) == len({fault.what for fault in FAULTS}) == 28
