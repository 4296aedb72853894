"""Faults of the file system: full disks, read-only folders, vanishing inputs, damaged caches."""

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
from tests.faults.findings import leftovers, must_run, obey_permissions, run, start
from tests.hang import HANGS_AFTER


@contextmanager
def small_disk(folder, size):
    """Mount a file system of this many bytes; return None if mounting fails."""
    mount_point = Path(folder) / "disk"
    mount_point.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes=64", "tmpfs", str(mount_point)],
        capture_output=True,
        check=False,
    )
    try:
        yield mount_point if mount.returncode == 0 else None
    finally:
        if mount.returncode == 0:
            subprocess.run(["umount", str(mount_point)], check=True)
        mount_point.rmdir()


def full_disks(findings, lines, sizes):
    """Write outputs that do not fit: require exit code 3, the old file, and nothing beside it."""
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
        findings.require_one_line(code, errors, f"{line.name} to /dev/full")


def _on_a_full_disk(findings, line, folder, options):
    for name in line.written():
        (folder / name).write_bytes(b"old")
    code, errors = run(line.writing(folder), folder, **options)
    detail = f"{line.name} where little fits: {code} {errors!r}"
    findings.require("full disk", detail, code in (0, 3))
    findings.require_one_line(code, errors, detail)
    findings.count("outputs that did not fit", code == 3)
    findings.require("full disk leaves nothing", detail, not leftovers(folder))
    is_unchanged = (folder / line.output).read_bytes() == b"old"
    findings.require("full disk keeps the old file", detail, is_unchanged == (code != 0))
    report = line.contents(folder).get(line.report)
    states_failure = report is None or line.states_failure(report, code)
    findings.require("full disk leaves no green report", detail, code == 0 or states_failure)


def full_spool(findings, folder):
    """Read Parquet from standard input, which uqcli must copy, with no space for the copy."""
    with tempfile.TemporaryDirectory() as run_folder, small_disk(run_folder, 4096) as disk:
        if disk is None:
            return
        with (folder / "medium.parquet").open("rb") as rows:
            environment = {**os.environ, "TMPDIR": str(disk)}
            code, errors = run(("bin", "-", "-q"), run_folder, stdin=rows, env=environment)
        findings.count("full places for copies")
        findings.require("full place for copies", f"{code} {errors!r}", code == 3)
        findings.require_one_line(code, errors, "a copy that does not fit")
        findings.require("no copy stays", str(list(disk.iterdir())), not list(disk.iterdir()))


def read_only_places(findings, lines):
    """Write to folders and files that are read-only, without a home folder for caches."""
    for line in lines:
        with tempfile.TemporaryDirectory() as folder:
            output_folder = Path(folder)
            for name in line.written():
                (output_folder / name).write_bytes(b"old")
            output_folder.chmod(0o555)
            options = {"env": {**os.environ, "HOME": "/nonexistent", "TMPDIR": "/tmp"}}
            options["preexec_fn"] = obey_permissions
            code, errors = run(line.writing(folder), "/", **options)
            output_folder.chmod(0o755)
            findings.count("read-only places")
            findings.require("read-only place", f"{line.name}: {code} {errors!r}", code == 3)
            findings.require_one_line(code, errors, f"{line.name} in a read-only place")
            is_unchanged = (output_folder / line.output).read_bytes() == b"old"
            report = line.contents(folder).get(line.report, b'"exit": 3,')
            findings.require(
                "read-only place keeps no green report", line.name, line.states_failure(report, 3)
            )
            findings.require(
                "read-only place is unchanged", line.name, is_unchanged and not leftovers(folder)
            )


def vanishing_inputs(findings, folder, runs, seed):
    """Remove, rename or truncate inputs while uqcli reads them."""
    source = random.Random(seed)
    for _ in range(runs):
        ending = source.choice(["csv", "parquet"])
        fault = source.choice(["removed", "renamed", "cut"] if ending == "csv" else ["removed", "renamed"])
        with tempfile.TemporaryDirectory() as name:
            run_folder = Path(name)
            parts = run_folder / "parts"
            parts.mkdir()
            for number in range(3):
                shutil.copy(folder / f"medium.{ending}", parts / f"{number}.{ending}")
            output = run_folder / "o.csv"
            output.write_bytes(b"old")
            process = start(("apply", folder / "b.json", parts, "-q", "-o", output), run_folder)
            time.sleep(source.uniform(0.2, 1.0))
            victim = parts / f"{source.randrange(3)}.{ending}"
            if fault == "removed":
                victim.unlink()
            elif fault == "renamed":
                parts.rename(run_folder / "gone")
            else:
                os.truncate(victim, 100_000)
            _, errors = process.communicate(timeout=HANGS_AFTER)
            code = process.returncode
            detail = f"an input {fault}: {code} {errors!r}"
            findings.count(f"inputs {fault}")
            findings.count("inputs missed", code == 3)
            findings.require("vanished input", detail, code in (0, 3))
            findings.require_one_line(code, errors, detail)
            findings.require("vanished input leaves nothing", detail, not leftovers(run_folder))
            findings.require("old file", detail, code == 0 or output.read_bytes() == b"old")


def damaged_caches(findings, folder, runs, seed):
    """Truncate and overwrite the compiler's cache; the rule file must be equal, without a message."""
    source = random.Random(seed)
    generator = np.random.default_rng(seed)
    score = generator.random(2_500_000)  # enough values for uqcli to use the compiler
    frame = pl.DataFrame({"score": score, "label": generator.random(len(score)) < score})
    frame.write_parquet(folder / "many.parquet")
    isotonic = ("--method", "isotonic", "--bootstrap", "0")
    line = ("calibrate", folder / "many.parquet", *isotonic, "-q", "-o", "o.json")
    with tempfile.TemporaryDirectory() as name:
        run_folder = Path(name)
        cache = run_folder / "cache"
        environment = {"env": {**os.environ, "NUMBA_CACHE_DIR": str(cache)}}
        must_run(line, run_folder, **environment)
        expected = (run_folder / "o.json").read_bytes()
        files = [path for path in cache.rglob("*") if path.is_file()]
        findings.require("a cache to damage", "the compiler wrote nothing", bool(files))
        for number in range(runs):
            for path in [path for path in cache.rglob("*") if path.is_file()]:
                _damage(path, source, number)
            (run_folder / "o.json").unlink()
            code, errors = run(line, run_folder, **environment)
            findings.count("damaged caches")
            findings.require("damaged cache", f"{code} {errors!r}", (code, errors) == (0, b""))
            is_equal = (run_folder / "o.json").exists() and (run_folder / "o.json").read_bytes() == expected
            findings.require("damaged cache changes nothing", str(number), is_equal)


def _damage(path, source, number):
    content = path.read_bytes()
    damaged_contents = [b"", content[: source.randrange(len(content) + 1)], os.urandom(64), content[:-1]]
    path.write_bytes(damaged_contents[number % len(damaged_contents)])


def same_pages(findings, folder, runs):
    """Write the page of a command line in several processes, and compare the bytes."""
    commands = {
        "tce": ("tce", folder / "small.csv", "--by", "region", "--bootstrap", "3"),
        "calibrate": ("calibrate", folder / "small.csv", "--method", "mist", "--bootstrap", "3"),
        "boundary": ("boundary", folder / "small.csv", "--precision", "0.6"),
    }
    with tempfile.TemporaryDirectory() as run_folder:
        for name, arguments in commands.items():
            pages = set()
            for number in range(runs):
                threads = ("--threads", str(1 + number % 3))
                environment = {**os.environ, "PYTHONHASHSEED": str(number)}
                must_run((*arguments, "-q", "--report", "r.html", *threads), run_folder, env=environment)
                pages.add((Path(run_folder) / "r.html").read_bytes())
            findings.count("pages made again", runs)
            findings.require("the same page", f"{name}: {len(pages)} different", len(pages) == 1)
