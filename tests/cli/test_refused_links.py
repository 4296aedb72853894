"""Tests of links that the system does not follow, such as those of a stranger in ``/tmp``.

Linux refuses them if ``fs.protected_symlinks`` is set, which a container may not change: here the calls that
follow links are replaced by some that refuse to follow one.
"""

import errno
import io
import os
import stat
from pathlib import Path

import pytest

from uqcli.base.files import followed


@pytest.fixture
def stranger(tmp_path, monkeypatch, data, artifact):
    """A folder with a link of every name that a run writes, to files elsewhere, none of which is followed."""
    far = tmp_path / "far"
    far.mkdir()
    links = tmp_path / "shared"
    links.mkdir()
    names = [
        f"{kind}.{ending}"
        for kind in ("old", "new")
        for ending in ("json", "html", "xml", "md", "prom", "csv")
    ]
    for name in names:
        if name.startswith("old"):
            (far / name).write_text(
                "command,key,value,low,high\ntce,up,1,,\n" if name.endswith("csv") else "mine"
            )
        (links / name).symlink_to(far / name)
    refused = {str(links / name) for name in names}

    def refuse(function):
        def call(path, *arguments, **options):
            follows = options.get("follow_symlinks", True) and not (
                function is os.open and arguments and arguments[0] & os.O_NOFOLLOW
            )
            if follows and isinstance(path, str | os.PathLike) and os.fspath(path) in refused:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
            return function(path, *arguments, **options)

        return call

    for name in ("stat", "open"):
        monkeypatch.setattr(os, name, refuse(getattr(os, name)))
    monkeypatch.setattr(io, "open", refuse(io.open))
    monkeypatch.setattr("builtins.open", io.open)
    return links, far


def content_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("age", ["old", "new"])
@pytest.mark.parametrize("ending", ["json", "html", "xml", "md", "prom", "csv"])
@pytest.mark.parametrize("fails", [False, True])
def test_no_report_is_written_through_a_link_that_is_not_followed(uqcli, stranger, data, age, ending, fails):
    links, far = stranger
    before = content_of(far)
    outcome = uqcli("tce", "nowhere.csv" if fails else data, "--report", links / f"{age}.{ending}")
    assert outcome.code == 3
    assert content_of(far) == before
    assert all(path.is_symlink() for path in links.iterdir())


@pytest.mark.parametrize("age", ["old", "new"])
def test_no_result_is_written_through_a_link_that_is_not_followed(uqcli, stranger, data, artifact, age):
    links, far = stranger
    before = content_of(far)
    for line in (
        ("boundary", data, "--precision", "0.7", "-o", links / f"{age}.json"),
        ("bin", data, "-o", links / f"{age}.json"),
        ("apply", artifact, data, "-o", links / f"{age}.csv"),
        ("watch", artifact, data, "--state", links / f"{age}.json"),
        ("export", artifact, "--to", "python", "-o", links / f"{age}.json"),
    ):
        outcome = uqcli(*line)
        assert (outcome.code, len(outcome.err.splitlines())) == (3, 1), (line, outcome.err)
        assert "Permission denied" in outcome.err
        assert content_of(far) == before, line
    assert all(path.is_symlink() for path in links.iterdir())


def test_a_path_that_changes_while_it_is_resolved_is_refused(tmp_path, monkeypatch):
    """A link is there when it is read, and a file of its owner when the system is asked."""
    (tmp_path / "far").write_text("mine")
    (tmp_path / "name").symlink_to("far")
    assert followed(str(tmp_path / "name")) == str(tmp_path / "far")
    resolve = os.path.realpath

    def replaced(name):
        path = resolve(name)
        Path(name).unlink()
        Path(name).write_text("theirs")
        return path

    monkeypatch.setattr(os.path, "realpath", replaced)
    with pytest.raises(OSError, match="symbolic links"):
        followed(str(tmp_path / "name"))


@pytest.mark.parametrize("ending", ["json", "html"])
def test_links_in_a_circle_are_left_alone(uqcli, tmp_path, ending):
    for first, second in (("a", "b"), ("b", "a")):
        (tmp_path / f"{first}.{ending}").symlink_to(f"{second}.{ending}")
    assert uqcli("tce", "nowhere.csv", "--report", tmp_path / f"a.{ending}").code == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{ending}", f"b.{ending}"]
    assert stat.S_ISLNK((tmp_path / f"a.{ending}").lstat().st_mode)
