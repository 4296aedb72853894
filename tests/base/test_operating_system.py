"""Tests of what differs by operating system: words of a shell, locks, and syncs."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base import operating_system
from uqcli.base.operating_system import has_lock, join, quote, split, sync

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


def not_supported(*_):
    raise OSError(45, "Operation not supported")
