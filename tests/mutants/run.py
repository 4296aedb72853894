"""Change the package in one place at a time, and see whether a default test fails: ``make mutants``.

First all default tests run once, to know which lines each runs and how long it takes. Then every mutation
runs against the tests of its line, those of its own room first, until one fails. Each is listed with the test
that fails. Of those that survive some have no effect, the others show what no test looks at.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coverage import CoverageData

from tests.mutants.mutations import ROOMS, drawn

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "uqcli"
FOLDER = ROOT / "build" / "mutants"
MOST_SECONDS = 100.0
"""Longest CPU time of the tests of one mutation, by their times without it; those of its room come first."""
LONGEST_RUN = 1800.0
"""Seconds after which a mutation counts as killed by its time: other processes may use the cores as well."""
MOST_CPU = 300
"""CPU seconds after which it does: it never ends, or takes three times as long."""


def main():
    """Run the mutations, and print the survivors and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("tests", nargs="*", help="tests to run in place of all")
    options = parser.parse_args()
    tests_of, seconds = _tests_run(options.tests)
    mutations = drawn(
        PACKAGE, {file: set(lines) for file, lines in tests_of.items()}, options.number, options.seed
    )

    def is_killed(mutation):
        tests = _ordered(tests_of[mutation.file][mutation.line], mutation.file, seconds)
        killer = _killer(mutation, tests)
        place = f"{mutation.file}:{mutation.line}: {mutation.before}  ->  {mutation.after}"
        print(f"killed by {killer}: {place}" if killer else f"survives: {place}", flush=True)
        return killer is not None

    with ThreadPoolExecutor(options.jobs) as pool:
        killed = sum(pool.map(is_killed, mutations))
    print(
        f"{killed} of {len(mutations)} mutations killed ({killed / len(mutations):.1%}), seed {options.seed}"
    )


def _tests_run(tests):
    """Return the default tests by file and line that they run, and the seconds of each.

    They run on a copy, as they do later, so that none fails there for another reason than a mutation.
    """
    data_file, report, folder = FOLDER / "coverage", FOLDER / "tests.xml", FOLDER / "copy"
    if not report.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        _copy(folder)
        settings = FOLDER / "settings"  # other rooms are not traced, which takes most of the time
        rooms = "".join(f"\n    {folder}/uqcli/{pattern}" for pattern in ROOMS)
        settings.write_text(f"[run]\ninclude ={rooms}\n")
        options = ["-n", str(os.cpu_count()), "--cov", f"--cov-config={settings}"]
        options += ["--cov-context=test", "--cov-report=", "-p", "tests.mutants.cpu"]
        environment = {**os.environ, "PYTHONPATH": str(folder), "COVERAGE_FILE": str(data_file)}
        command = [sys.executable, "-m", "pytest", "-q", *options, f"--junitxml={report}", *tests]
        subprocess.run(command, cwd=folder, env=environment, check=False)
    seconds, failing = {}, set()
    for case in ET.parse(report).getroot().iter("testcase"):
        name = case.get("classname"), case.get("name")
        taken = case.find("properties/property[@name='cpu']")
        seconds[name] = float(case.get("time") if taken is None else taken.get("value"))
        if case.find("failure") is not None or case.find("error") is not None:
            failing.add(f"{name[0].replace('.', '/')}.py::{name[1]}")
    # a few tests fail on a copy, or while coverage is measured: they would kill each mutation
    print(f"{len(failing)} of {len(seconds)} tests fail without a mutation and are left out", flush=True)
    data = CoverageData(str(data_file))
    data.read()
    tests_of = {}
    for pattern in ROOMS:
        for path in PACKAGE.glob(pattern):
            file = path.relative_to(PACKAGE)
            by_line = data.contexts_by_lineno(str(folder / "uqcli" / file))
            run = {line: {_test(name) for name in names if name} - failing for line, names in by_line.items()}
            tests_of[str(file)] = {line: names for line, names in run.items() if names}
    return tests_of, seconds


def _copy(folder):
    """Copy the package, beside links to all else."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("uqcli", "build") and not entry.name.startswith(".venv"):
            (folder / entry.name).symlink_to(entry)
    shutil.copytree(PACKAGE, folder / "uqcli", ignore=shutil.ignore_patterns("__pycache__"))


def _test(context):
    """Return the id of a test from its context in the coverage, which also names the phase."""
    return context.rpartition("|")[0]


def _ordered(tests, file, seconds):
    """Order tests: those of the room first, then the quick ones, as many as the time allows."""
    room = file.split("/")[0]

    def key(test):
        path, _, name = test.partition("::")
        taken = seconds.get((path.removesuffix(".py").replace("/", "."), name), 1.0)
        return not path.startswith(f"tests/{room}/"), taken

    chosen, total = [], 0.0
    for test in sorted(tests, key=key):
        total += key(test)[1]
        if total > MOST_SECONDS and chosen:
            break
        chosen.append(test)
    return chosen


def _limit_cpu():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))


def _killer(mutation, tests):
    """Return the test that fails, or takes much longer, on a copy with the mutation, if any."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _copy(folder)
        (folder / "uqcli" / mutation.file).write_text(mutation.source)
        environment = {**os.environ, "PYTHONPATH": name, "NUMBA_CACHE_DIR": str(FOLDER / "numba")}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *tests,
        ]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST_RUN,
                preexec_fn=_limit_cpu,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "its time"
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
        return failed[1] if failed else f"exit {done.returncode}" if done.returncode else None


if __name__ == "__main__":
    main()
