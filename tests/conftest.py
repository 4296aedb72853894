"""Fixtures and profiles shared by all tests.

``make test`` runs a part of the suite that takes minutes: a quarter of the generated examples of each
property, few random draws in command lines, and no test with a mark of ``pyproject.toml``. The target that a
mark names runs the rest.
"""

import functools
import gc
import importlib
import itertools
import os
import pkgutil
import signal
import subprocess
import sys
import zlib
from collections import defaultdict
from fractions import Fraction

# otherwise child processes compile the same modules hundreds of times, and workers rewrite all tests
sys.dont_write_bytecode = False

import uqcli  # noqa: E402, F401  before numpy, so that it rounds as in child processes

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import numpy  # noqa: E402, F401  before warnings are errors
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from tests import sail  # noqa: E402
from uqcli import jobs  # noqa: E402
from uqcli.base.operating_system import IS_WINDOWS  # noqa: E402
from uqcli.engines.spark import read, session  # noqa: E402

SHARE_OF_EXAMPLES = 6
MIN_EXAMPLES, MAX_EXAMPLES = 5, 50

settings.register_profile(
    "uqcli", derandomize=True, deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("uqcli"))
settings.register_profile("explore", deadline=None, max_examples=2000)
# nohup and some schedulers ignore SIGHUP, and child processes would inherit that
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# tests that limit a program before it starts must fork, which gRPC's own threads do not survive
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
# threads of OpenMP that wait for each other would take the cores from other workers
os.environ["OMP_WAIT_POLICY"] = "passive"
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "uqcli")
settings.load_profile(PROFILE)
_SETTINGS = "_hypothesis_internal_use_settings"


# signals, limits, FIFOs, terminals and owners of files, which Windows does not have; make windows runs some
# of these tests on a simulation of it
_MODULES_OF_POSIX = (
    "cli/test_apply_guards.py cli/test_failed_reports.py cli/test_interruption.py cli/test_memory.py "
    "cli/test_messages.py cli/test_process.py cli/test_progress.py cli/test_surroundings.py "
    "faults/test_small_part.py kernels/test_compile.py"
)
_TESTS_OF_POSIX = (
    "test_an_answer_that_cannot_be_written_is_an_error "
    "test_a_found_file_of_another_user_is_left_unread test_hostile_file_names_are_quoted "
    "test_a_found_file_that_others_can_write_is_left_unread test_a_kill_leaves_the_old_state_or_the_new_one "
    "test_paths_that_cannot_be_locked_are_refused test_several_rules_read_one_fifo "
    "test_what_is_no_file_in_place_of_a_configuration_stops_nothing "
    "test_a_run_that_ends_before_its_first_state_leaves_none "
    "test_a_fifo_is_neither_read_nor_changed_when_a_run_starts test_a_killed_run_is_seen "
    "test_standard_output_by_a_link_gets_the_samples "
    "test_each_alarm_is_mailed_once_and_every_error_each_time "
    "test_names_survive_a_locale_of_ascii test_libraries_read_no_configuration_in_the_working_directory"
)
collect_ignore = _MODULES_OF_POSIX.split() if IS_WINDOWS else []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what other targets run, and reduce the examples of each property, unless all are asked for."""
    cases = defaultdict(list)
    for item in items:
        for marker in item.iter_markers("covering"):
            cases[item.function].append((item, marker))
    for items_and_markers in cases.values():
        marker = items_and_markers[0][1]
        items_of_test = [item for item, _ in items_and_markers]
        covering = _covering(items_of_test, marker.kwargs.get("strength", 1))[
            :: marker.kwargs.get("every", 1)
        ]
        also = marker.kwargs.get("also", ())
        for item, _ in items_and_markers:
            if item not in covering and item.callspec.id not in also:
                item.add_marker(marker.args[0])
    for item in items:
        if is_on_spark(item) and "engines" not in item.path.parts:
            item.add_marker("thorough")  # make test compares the engines in tests/engines
    part = int(os.environ.get("TEST_PART", "1"))
    others = [item for item in items if zlib.crc32(f"{item.nodeid} {commit_of(part)}".encode()) % part]
    if IS_WINDOWS:
        others += [item for item in items if item.name.partition("[")[0] in _TESTS_OF_POSIX.split()]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]
    if PROFILE != "uqcli":
        return
    for function in {item.function for item in items if hasattr(item, "function")}:
        declared = getattr(function, _SETTINGS, None)
        if declared is not None and declared.max_examples > MIN_EXAMPLES:
            number = min(max(MIN_EXAMPLES, declared.max_examples // SHARE_OF_EXAMPLES), MAX_EXAMPLES)
            setattr(function, _SETTINGS, settings(declared, max_examples=number))


@functools.cache
def commit_of(part):
    """Return the commit, so that each runs another part of the tests; nothing if all run."""
    if part == 1:
        return ""
    return subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout


def is_on_spark(item):
    """Return whether a case of a test names Spark as its engine."""
    engine = item.callspec.params.get("engine", "") if hasattr(item, "callspec") else ""
    return "spark" in engine


def _covering(items, strength):
    """Choose few cases of a test in which each value of each parameter occurs, in an order that mixes them.

    Parameters
    ----------
    strength
        2 for each pair of values.
    """
    chosen, covered = [], set()
    for item in sorted(items, key=lambda item: (is_on_spark(item), zlib.crc32(item.name.encode()))):
        values = sorted((name, id(value)) for name, value in item.callspec.params.items())
        combinations = set(itertools.combinations(values, min(strength, len(values))))
        if not combinations <= covered:
            chosen.append(item)
            covered |= combinations
    return chosen


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


@pytest.fixture(autouse=True)
def _server_for_spark(monkeypatch):
    """Take a server in this process for a cluster, unless SPARK_REMOTE names one."""
    if not os.environ.get("SPARK_REMOTE"):
        monkeypatch.setattr(session, "_OTHERS_ARE_READ", True)
        monkeypatch.setattr(session, "_address", lambda url: url or sail.address())
        monkeypatch.setattr(read, "_refuse_lines", lambda *_, **__: None)  # Sail cannot name a row's file


FEW_DRAWS = {
    "uqcli.boundary.search.constraint_kinds._BOUND_OFFSETS": (Fraction(-1, 20), Fraction(0)),
    "uqcli.boundary.search.constraint.BOUND_FACTORS": (Fraction(1),),
    "uqcli.boundary.search.constraint_kinds.BOUND_FACTORS": (Fraction(1),),
    "uqcli.boundary.expected.DRAWS": 10,
    "uqcli.boundary.operating_points.DRAWS": 10,
    "uqcli.boundary.expected._MAX_INFEASIBLE": 2,
    "uqcli.boundary.candidates.PERMUTATIONS": 20,
    "uqcli.boundary.permutation.RESAMPLES": 20,
    "uqcli.watch.before_labels.REFITS": 20,
    "uqcli.base.defaults.BOOTSTRAP": 20,
}
"""Numbers of resamplings and permutations, and bounds tried, so that command lines of tests are quick."""


@pytest.fixture
def few_draws(request, monkeypatch):
    """Draw less often, unless a test needs ``all_draws``, such as one that compares with another process."""
    if PROFILE == "uqcli" and "all_draws" not in request.fixturenames:
        # help is written on import, and states the program's own numbers
        for module in pkgutil.iter_modules(jobs.__path__):
            importlib.import_module(f"{jobs.__name__}.{module.name}")
        for name, number in FEW_DRAWS.items():
            monkeypatch.setattr(name, number)


@pytest.fixture
def all_draws():
    """Keep the numbers of random draws that the program has."""
