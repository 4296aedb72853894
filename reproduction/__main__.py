"""Runs every study, then writes the pages: ``python -m reproduction``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from reproduction.page import results_page, speed_page
from reproduction.program import Program
from reproduction.releases import RECORD
from reproduction.studies import STUDIES
from reproduction.study import QUICK, WHOLE, Outcome, Scale, Study
from reproduction.values import read

ROOT = Path(__file__).parents[1]
NO_RESULT_REASON = "its study has no kept result yet; `make reproduce` runs it"
QUICK_NOTE = (
    "**A smaller run, to see that everything works: fewer seeds and rows than the page in the repository.**\n"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the studies without a kept result, then write the pages.

    Returns
    -------
    Exit code: 1 if a study failed; the other studies finish nevertheless.
    """
    options = _parse(arguments)
    results_folder = options.keep / ("quick" if options.quick else "whole")
    results_folder.mkdir(parents=True, exist_ok=True)
    studies = [study for study in STUDIES if not options.study or study.name in options.study]
    waiting = []
    for study in studies:
        if options.again:
            _result_path(results_folder, study).unlink(missing_ok=True)
        if _result_path(results_folder, study).exists():
            _say(f"{study.name}: kept")
        else:
            waiting.append(study)
    failed = _run_all(waiting, QUICK if options.quick else WHOLE, results_folder)
    ready = [study for study in STUDIES if _result_path(results_folder, study).exists()]
    _write(ready, results_folder, options.out, QUICK_NOTE if options.quick else "")
    return int(failed)


def _result_path(results_folder: Path, study: Study) -> Path:
    return results_folder / f"{study.name}.json"


def _run_all(studies: Sequence[Study], scale: Scale, results_folder: Path) -> bool:
    """Run studies in parallel, then the timed ones one by one; return whether any failed."""
    stopped = Event()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [
            pool.submit(_succeeds, study, scale, results_folder, stopped)
            for study in studies
            if not study.runs_alone
        ]
        try:
            succeeded = [future.result() for future in futures]
        except KeyboardInterrupt:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    succeeded += [_succeeds(study, scale, results_folder, stopped) for study in studies if study.runs_alone]
    return not all(succeeded)


def _succeeds(study: Study, scale: Scale, results_folder: Path, stopped: Event) -> bool:
    try:
        _run(study, scale, results_folder, stopped)
    except Exception as error:
        _say(f"{study.name} FAILED: {type(error).__name__}: {error}")
        return False
    return True


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("--study", action="append", choices=[study.name for study in STUDIES])
    parser.add_argument("--quick", action="store_true", help="fewer seeds and rows")
    parser.add_argument("--again", action="store_true", help="also run studies that have kept results")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build" / "reproduction", help="folder of results"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results", help="folder of the pages")
    return parser.parse_args(arguments)


def _run(study: Study, scale: Scale, results_folder: Path, stopped: Event) -> None:
    start = time.perf_counter()

    def say(text: str) -> None:
        if (
            stopped.is_set()
        ):  # a signal reaches the main thread and the commands, but not the threads of studies
            raise KeyboardInterrupt
        _say(f"{study.name} {time.perf_counter() - start:4.0f} s: {text}")

    with tempfile.TemporaryDirectory() as folder:
        program = Program(folder=Path(folder))
        outcome = study.run(program, scale, say)
    say(f"done, {program.commands} commands")
    spent = {"commands": program.commands, "seconds": time.perf_counter() - start}
    text = json.dumps({"outcome": outcome.content(), "spent": spent}, indent=1, allow_nan=False)
    partial_path = results_folder / f"{study.name}.part"
    partial_path.write_text(text + "\n")
    partial_path.replace(_result_path(results_folder, study))


def _write(ready: Sequence[Study], results_folder: Path, out: Path, note: str) -> None:
    kept_results = {
        study.name: json.loads(_result_path(results_folder, study).read_text()) for study in ready
    }
    outcomes = [(study, Outcome.from_content(kept_results[study.name]["outcome"])) for study in ready]
    (out / "images").mkdir(parents=True, exist_ok=True)
    for picture in (
        figure for _, outcome in outcomes for sheet in outcome.sheets for figure in sheet.pictures
    ):
        (out / "images" / picture.name).write_text(picture.svg)
    (out / "reproduction.md").write_text(results_page(outcomes, _not_reproduced(ready), note))
    spent = {name: result["spent"] for name, result in kept_results.items()}
    (out / "speed.md").write_text(speed_page(outcomes, spent, json.loads(RECORD.read_text())))
    _say(f"written: {out / 'reproduction.md'}")


def _not_reproduced(ready: Sequence[Study]) -> list[dict[str, str]]:
    """List what no study reproduces, with the tables of studies that have not run."""
    values = read()
    names = {study.name for study in ready}
    waiting = [
        {
            "paper": "calibration error",
            "what": table["name"],
            "status": "not yet run",
            "reason": NO_RESULT_REASON,
        }
        for table in values["table"]
        if table["study"] not in names
    ]
    with_tables = {table["study"] for table in values["table"]}
    for study in STUDIES:
        if study.name not in names | with_tables:
            paper, _, item = study.heading.lower().partition(": ")
            if not item:
                paper, item = "ours", paper
            waiting.append(
                {"paper": paper, "what": item, "status": "not yet run", "reason": NO_RESULT_REASON}
            )
    return [*waiting, *values["listed"]]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
