"""Tests of what differs by operating system: words of a shell, locks, and syncs."""

import os
import signal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base import operating_system
from uqcli.base.errors import DataError
from uqcli.base.files import check_writable
from uqcli.base.operating_system import (
    change,
    existing_signals,
    has_lock,
    is_read_only,
    join,
    quote,
    release,
    split,
    sync,
    user_caches,
)

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=12)
ODD_WORDS = st.text('\\" <>|&^aé', max_size=8)


@given(words=st.lists(WORDS | ODD_WORDS, max_size=5))
@pytest.mark.parametrize("is_windows", [False, True])
def test_words_come_back_from_a_command_line(words, is_windows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operating_system, "IS_WINDOWS", is_windows)
        assert split(join(words)) == words


def read_by_windows(line):
    """Split a command line as Microsoft's C library does: an oracle that goes through it once."""
    words, word, is_quoted, backslashes = [], None, False, 0
    for character in [*line, None]:
        if character == "\\":
            backslashes += 1
            continue
        if character == '"':
            word = (word or "") + "\\" * (backslashes // 2)
            if backslashes % 2:
                word += '"'
            else:
                is_quoted = not is_quoted
        else:
            if backslashes:
                word = (word or "") + "\\" * backslashes
            if character is None or (character == " " and not is_quoted):
                words += [] if word is None else [word]
                word = None
            else:
                word = (word or "") + character
        backslashes = 0
    return words


@given(words=st.lists(WORDS | ODD_WORDS, max_size=5))
def test_programs_on_windows_read_the_words(words):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operating_system, "IS_WINDOWS", True)
        assert read_by_windows(join(words)) == words


@pytest.mark.parametrize(
    ("word", "on_linux", "on_windows"),
    [
        ("rule.json", "rule.json", "rule.json"),
        ("two words.json", "'two words.json'", '"two words.json"'),
        ("p_*", "'p_*'", '"p_*"'),
        ("precision.low < 0.9", "'precision.low < 0.9'", '"precision.low < 0.9"'),
        (r"C:\rules\r.json", r"'C:\rules\r.json'", r"C:\rules\r.json"),
        ("C:\\my rules\\", "'C:\\my rules\\'", '"C:\\my rules\\\\"'),
        ("", "''", '""'),
    ],
)
def test_words_are_quoted_for_the_shell(monkeypatch, word, on_linux, on_windows):
    assert quote(word) == on_linux
    monkeypatch.setattr(operating_system, "IS_WINDOWS", True)
    assert quote(word) == on_windows


def test_a_lock_is_held_until_its_descriptor_closes(tmp_path):
    first, second = (os.open(tmp_path / "f", os.O_RDWR | os.O_CREAT) for _ in range(2))
    assert has_lock(first)
    assert not has_lock(second)
    os.close(first)
    assert has_lock(second)
    os.close(second)


def test_on_macos_the_memory_of_the_disk_is_written_too(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(operating_system._fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(operating_system._fcntl, "fcntl", lambda *arguments: calls.append(arguments))
    monkeypatch.setattr(os, "fsync", lambda descriptor: calls.append(("fsync", descriptor)))
    with (tmp_path / "f").open("wb") as file:
        sync(file.fileno())
        assert calls == [(file.fileno(), 51)]
        monkeypatch.setattr(operating_system._fcntl, "fcntl", not_supported)
        sync(file.fileno())
        assert calls[1:] == [("fsync", file.fileno())]


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="Windows does not say")
def test_a_file_system_may_be_read_only(monkeypatch, tmp_path):
    assert not is_read_only(tmp_path)
    facts = SimpleNamespace(f_flag=os.ST_RDONLY | os.ST_NOSUID)
    monkeypatch.setattr(os, "statvfs", lambda path: facts)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match=r"cannot write '.*': the file system is read-only"):
        check_writable(str(tmp_path / "new.json"))


def not_supported(*_):
    raise OSError(45, "Operation not supported")


class Busy:
    """Work that is refused some times, as Windows refuses to change a file that is open."""

    def __init__(self, times):
        self.times, self.calls = times, []

    def __call__(self, *paths):
        self.calls.append(paths)
        if len(self.calls) <= self.times:
            raise PermissionError(13, "used by another process")


@pytest.fixture
def clock(monkeypatch):
    """Let time pass only while the program sleeps."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.append(now.pop() + seconds))
    return now


def test_windows_changes_a_busy_file_later(monkeypatch, clock):
    monkeypatch.setattr(operating_system, "IS_WINDOWS", True)
    work = Busy(3)
    change(work, "a", "b")
    assert work.calls == [("a", "b")] * 4


def test_a_file_that_stays_busy_is_an_error(monkeypatch, clock):
    monkeypatch.setattr(operating_system, "IS_WINDOWS", True)
    with pytest.raises(PermissionError):
        change(Busy(10**9), "a")
    assert 0.9 < clock[0] < 2


def test_other_systems_change_files_once(clock):
    work = Busy(1)
    with pytest.raises(PermissionError):
        change(work, "a")
    assert len(work.calls) == 1


def test_the_end_of_the_process_closes_a_file_on_windows_only(monkeypatch, tmp_path):
    descriptor = os.open(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)
    release(str(tmp_path / "f"))
    os.fstat(descriptor)
    monkeypatch.setattr(operating_system, "IS_WINDOWS", True)
    release(str(tmp_path / "f"))
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    os.close(other)


def test_caches_are_in_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_caches() == tmp_path / "xdg"
    monkeypatch.setattr(operating_system, "IS_WINDOWS", True)
    assert user_caches() == tmp_path / "local"


def test_signals_that_do_not_exist_are_left_out():
    assert existing_signals({"SIGINT": "interrupted", "SIGNOWHERE": "never"}) == {
        signal.SIGINT: "interrupted"
    }
