"""Fixtures and the hypothesis profile shared by all tests."""

import gc
import os
import signal
import sys

# programs that tests start would compile the same modules hundreds of times, and workers rewrite all tests
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from uqcli.cli.process.environment import round_alike  # noqa: E402

round_alike()  # as programs that tests start do
import numpy  # noqa: E402, F401  before warnings are errors

settings.register_profile(
    "uqcli", derandomize=True, deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
# nohup and some schedulers have it ignored, which the programs that tests start would inherit
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# tests that limit a program before it starts must fork, which gRPC's own threads do not survive
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "uqcli"))


gc.disable()  # what is collected and imported stays


def pytest_collection_finish():
    """Let the collector of garbage begin with what tests leave."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _clean_surroundings(monkeypatch, tmp_path):
    """No configuration of the machine reaches a test."""
    for name in list(os.environ):
        if name.startswith("UQCLI_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
