"""Fixtures and the hypothesis profile shared by all tests."""

import gc
import os
import signal
import sys

# otherwise child processes compile the same modules hundreds of times, and workers rewrite all tests
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from uqcli.cli.process.environment import round_alike  # noqa: E402

round_alike()  # as child processes do
import numpy  # noqa: E402, F401  before warnings are errors

settings.register_profile(
    "uqcli", derandomize=True, deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
# nohup and some schedulers ignore SIGHUP, and child processes would inherit that
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# tests that limit a program before it starts must fork, which gRPC's own threads do not survive
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "uqcli"))


gc.disable()  # collected tests and imported modules stay


def pytest_collection_finish():
    """Let garbage collection skip all objects that exist before the first test."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _clean_surroundings(monkeypatch, tmp_path):
    """Hide the configuration of the machine from each test."""
    for name in list(os.environ):
        if name.startswith("UQCLI_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
