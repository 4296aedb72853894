"""Tests of state files: one run at a time changes a state, and a killed run leaves it intact."""

import os
import signal
import subprocess
import sys
import time

import pytest

from uqcli.base.errors import ArtifactError, DataError, UsageError
from uqcli.stores import state
from uqcli.stores.output import write_bytes
from uqcli.stores.state import locked

INCREMENT = """
import sys, time
from uqcli.stores.output import write_bytes
from uqcli.stores.state import locked
path, times = sys.argv[1], int(sys.argv[2])
for _ in range(times):
    with locked(path) as content:
        count = int(content or b"0")
        time.sleep(0.001)
        write_bytes(path, b"%d" % (count + 1))
"""


def start_run(path, times):
    return subprocess.Popen([sys.executable, "-c", INCREMENT, str(path), str(times)])


def test_concurrent_runs_lose_no_update(tmp_path):
    path = tmp_path / "state"
    runs = [start_run(path, 40) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert path.read_text() == "120"
    assert [remaining_path.name for remaining_path in tmp_path.iterdir()] == ["state"]


def test_a_kill_leaves_the_old_state_or_the_new_one(tmp_path):
    path = tmp_path / "state"
    path.write_text("7")
    for tenths in (3, 4, 5):
        run = start_run(path, 100_000)
        time.sleep(tenths / 10)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        assert int(path.read_text()) >= 7
        with locked(str(path)) as content:
            assert content == path.read_bytes()


def test_a_missing_state_is_empty_and_stays_missing_unless_written(tmp_path):
    path = tmp_path / "state"
    with locked(str(path)) as content:
        assert content == b""
    assert not path.exists()
    with locked(str(path)):
        write_bytes(str(path), b"1")
    assert path.read_bytes() == b"1"


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_text("1")
    (tmp_path / "link").symlink_to("real")
    with locked(str(tmp_path / "link")) as content:
        write_bytes(str(tmp_path / "link"), content + b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "12"


def test_waiting_too_long_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "LOCK_TIMEOUT_SECONDS", 0.1)
    path = str(tmp_path / "state")
    with locked(path), pytest.raises(DataError, match="in use by another run"), locked(path):
        pass


@pytest.mark.parametrize("name", ["-", "https://x.org/state", "/dev/null", "/dev/stdin"])
def test_paths_that_cannot_be_locked_are_refused(name):
    with pytest.raises(UsageError), locked(name):
        pass


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(DataError, match="cannot open the state file"), locked(str(tmp_path / "no" / "state")):
        pass


def test_an_empty_state_is_refused_and_kept(tmp_path):
    path = tmp_path / "state"
    path.touch()
    with pytest.raises(ArtifactError, match="is empty"), locked(str(path)):
        pass
    assert path.read_bytes() == b""
    with pytest.raises(ArtifactError, match="is empty"), locked(str(path)):
        pass


BEGIN = """
import sys, time
from uqcli.stores.state import locked
with locked(sys.argv[1]) as content:
    print(content, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM"])
def test_a_run_that_ends_before_its_first_state_leaves_none(tmp_path, end):
    path = tmp_path / "state"
    with subprocess.Popen([sys.executable, "-c", BEGIN, str(path)], stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"b''\n"
        assert not path.exists(), "a state appears whole"
        os.kill(run.pid, getattr(signal, end))
    assert not path.exists()
    with locked(str(path)) as content:
        assert content == b""
        write_bytes(str(path), b"1")
    assert [remaining.name for remaining in tmp_path.iterdir()] == ["state"]


def test_runs_that_begin_a_state_wait_for_each_other(tmp_path):
    path = tmp_path / "state"
    with locked(str(path)):
        run = start_run(path, 1)
        time.sleep(0.5)
        assert run.poll() is None
        write_bytes(str(path), b"5")
    assert run.wait() == 0
    assert path.read_text() == "6"
