"""Full disks, places that cannot be written, inputs that vanish, damaged caches."""

import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from tests.cli.conftest import NO_BYTECODE
from tests.faults.findings import bound_by_permissions, leftovers, must_run, run, start


@contextmanager
def small_disk(folder, size):
    """A file system of so many bytes, or None where none can be mounted."""
    place = Path(folder) / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes=64", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    try:
        yield place if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(place)], check=True)
        place.rmdir()


def full_disks(findings, lines, sizes):
    """Outputs that do not fit: exit 3, the old file, nothing beside it."""
    for line in lines:
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder, small_disk(folder, size) as disk:
                if disk is not None:
                    findings.count("full file systems")
                    _on_a_full_disk(findings, line, disk, {})
            with tempfile.TemporaryDirectory() as folder:
                findings.count("limits of file sizes")
                limit = {
                    "preexec_fn": lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
                    "env": {**os.environ, **NO_BYTECODE},
                }
                _on_a_full_disk(findings, line, Path(folder), limit)
        code, errors = run((*line.arguments, "-q", "-o", "/dev/full"), ".")
        findings.count("full devices")
        findings.require("full device", f"{line.name}: {code}", code == 3)
        findings.one_line(code, errors, f"{line.name} to /dev/full")


def _on_a_full_disk(findings, line, folder, options):
    for name in line.written():
        (folder / name).write_bytes(b"old")
    code, errors = run(line.writing(folder), folder, **options)
    said = f"{line.name} where little fits: {code} {errors!r}"
    findings.require("full disk", said, code in (0, 3))
    findings.one_line(code, errors, said)
    findings.count("outputs that did not fit", code == 3)
    findings.require("full disk leaves nothing", said, not leftovers(folder))
    old = (folder / line.output).read_bytes() == b"old"
    findings.require("full disk keeps the old file", said, old == (code != 0))
    report = line.contents(folder).get(line.report)
    told = report is None or line.tells_of(report, code)
    findings.require("full disk leaves no green report", said, code == 0 or told)


def spool_that_is_full(findings, folder):
    """Parquet on standard input needs a place of its own."""
    with tempfile.TemporaryDirectory() as place, small_disk(place, 4096) as disk:
        if disk is None:
            return
        with (folder / "medium.parquet").open("rb") as rows:
            environment = {**os.environ, "TMPDIR": str(disk)}
            code, errors = run(("bin", "-", "-q"), place, stdin=rows, env=environment)
        findings.count("full places for copies")
        findings.require("full place for copies", f"{code} {errors!r}", code == 3)
        findings.one_line(code, errors, "a copy that does not fit")
        findings.require("no copy stays", str(list(disk.iterdir())), not list(disk.iterdir()))


def read_only_places(findings, lines):
    """Directories and files that another user may not write; a home without a place for caches."""
    for line in lines:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            for name in line.written():
                (place / name).write_bytes(b"old")
            place.chmod(0o555)
            options = {"env": {**os.environ, "HOME": "/nonexistent", "TMPDIR": "/tmp"}}
            options["preexec_fn"] = bound_by_permissions
            code, errors = run(line.writing(folder), "/", **options)
            place.chmod(0o755)
            findings.count("read-only places")
            findings.require("read-only place", f"{line.name}: {code} {errors!r}", code == 3)
            findings.one_line(code, errors, f"{line.name} in a read-only place")
            kept = (place / line.output).read_bytes() == b"old"
            report = line.contents(folder).get(line.report, b'"exit": 3,')
            findings.require("read-only place keeps no green report", line.name, line.tells_of(report, 3))
            findings.require("read-only place is unchanged", line.name, kept and not leftovers(folder))


def vanishing_inputs(findings, folder, runs, seed):
    """Inputs that are removed, renamed or cut while they are read."""
    source = random.Random(seed)
    for _ in range(runs):
        ending = source.choice(["csv", "parquet"])
        fault = source.choice(["removed", "renamed", "cut"] if ending == "csv" else ["removed", "renamed"])
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            parts = place / "parts"
            parts.mkdir()
            for number in range(3):
                shutil.copy(folder / f"medium.{ending}", parts / f"{number}.{ending}")
            output = place / "o.csv"
            output.write_bytes(b"old")
            process = start(("apply", folder / "b.json", parts, "-q", "-o", output), place)
            time.sleep(source.uniform(0.2, 1.0))
            victim = parts / f"{source.randrange(3)}.{ending}"
            if fault == "removed":
                victim.unlink()
            elif fault == "renamed":
                parts.rename(place / "gone")
            else:
                os.truncate(victim, 100_000)
            _, errors = process.communicate(timeout=120)
            code = process.returncode
            said = f"an input {fault}: {code} {errors!r}"
            findings.count(f"inputs {fault}")
            findings.count("inputs missed", code == 3)
            findings.require("vanished input", said, code in (0, 3))
            findings.one_line(code, errors, said)
            findings.require("vanished input leaves nothing", said, not leftovers(place))
            findings.require("old file", said, code == 0 or output.read_bytes() == b"old")


def damaged_caches(findings, folder, runs, seed):
    """What the compiler really wrote, cut and overwritten: the same artifact, no word."""
    source = random.Random(seed)
    drawn = np.random.default_rng(seed)
    score = drawn.random(2_500_000)  # so many values that the compiler pays off
    frame = pl.DataFrame({"score": score, "label": drawn.random(len(score)) < score})
    frame.write_parquet(folder / "many.parquet")
    isotonic = ("--method", "isotonic", "--bootstrap", "0")
    line = ("calibrate", folder / "many.parquet", *isotonic, "-q", "-o", "o.json")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        cache = place / "cache"
        environment = {"env": {**os.environ, "NUMBA_CACHE_DIR": str(cache)}}
        must_run(line, place, **environment)
        expected = (place / "o.json").read_bytes()
        files = [path for path in cache.rglob("*") if path.is_file()]
        findings.require("a cache to damage", "the compiler wrote nothing", bool(files))
        for number in range(runs):
            for path in [path for path in cache.rglob("*") if path.is_file()]:
                _damage(path, source, number)
            (place / "o.json").unlink()
            code, errors = run(line, place, **environment)
            findings.count("damaged caches")
            findings.require("damaged cache", f"{code} {errors!r}", (code, errors) == (0, b""))
            same = (place / "o.json").exists() and (place / "o.json").read_bytes() == expected
            findings.require("damaged cache changes nothing", str(number), same)


def _damage(path, source, number):
    content = path.read_bytes()
    kinds = [b"", content[: source.randrange(len(content) + 1)], os.urandom(64), content[:-1]]
    path.write_bytes(kinds[number % len(kinds)])


def same_pages(findings, folder, runs):
    """Pages of one command line, process after process."""
    commands = {
        "tce": ("tce", folder / "small.csv", "--by", "region", "--bootstrap", "3"),
        "calibrate": ("calibrate", folder / "small.csv", "--method", "mist", "--bootstrap", "3"),
        "boundary": ("boundary", folder / "small.csv", "--precision", "0.6"),
    }
    with tempfile.TemporaryDirectory() as place:
        for name, arguments in commands.items():
            pages = set()
            for number in range(runs):
                threads = ("--threads", str(1 + number % 3))
                environment = {**os.environ, "PYTHONHASHSEED": str(number)}
                must_run((*arguments, "-q", "--report", "r.html", *threads), place, env=environment)
                pages.add((Path(place) / "r.html").read_bytes())
            findings.count("pages made again", runs)
            findings.require("the same page", f"{name}: {len(pages)} different", len(pages) == 1)
