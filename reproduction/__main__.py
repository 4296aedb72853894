"""``python -m reproduction``: every study, then the pages."""

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
from reproduction.studies import STUDIES
from reproduction.study import QUICK, WHOLE, Outcome, Scale, Study
from reproduction.values import read

ROOT = Path(__file__).parents[1]
WAITS = "its study has no kept result yet; `make reproduce` runs it"
SMALLER = (
    "**A smaller run, to see that everything works: fewer seeds and rows than the page in the repository.**\n"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what has no kept result, then write the pages.

    Returns
    -------
    Exit code: 1 if a study failed; the others are finished all the same.
    """
    given = _parsed(arguments)
    kept = given.keep / ("quick" if given.quick else "whole")
    kept.mkdir(parents=True, exist_ok=True)
    chosen = [study for study in STUDIES if not given.study or study.name in given.study]
    waiting = []
    for study in chosen:
        if given.again:
            _place(kept, study).unlink(missing_ok=True)
        if _place(kept, study).exists():
            _say(f"{study.name}: kept")
        else:
            waiting.append(study)
    failed = _run_all(waiting, QUICK if given.quick else WHOLE, kept)
    ready = [study for study in STUDIES if _place(kept, study).exists()]
    _write(ready, kept, given.out, SMALLER if given.quick else "")
    return int(failed)


def _place(kept: Path, study: Study) -> Path:
    return kept / f"{study.name}.json"


def _run_all(studies: Sequence[Study], scale: Scale, kept: Path) -> bool:
    """Run studies side by side, then one by one those that are timed; tell whether any failed."""
    stopped = Event()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        together = [
            pool.submit(_succeeds, study, scale, kept, stopped) for study in studies if not study.runs_alone
        ]
        try:
            succeeded = [each.result() for each in together]
        except KeyboardInterrupt:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    succeeded += [_succeeds(study, scale, kept, stopped) for study in studies if study.runs_alone]
    return not all(succeeded)


def _succeeds(study: Study, scale: Scale, kept: Path, stopped: Event) -> bool:
    try:
        _run(study, scale, kept, stopped)
    except Exception as error:
        _say(f"{study.name} FAILED: {type(error).__name__}: {error}")
        return False
    return True


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("--study", action="append", choices=[study.name for study in STUDIES])
    parser.add_argument("--quick", action="store_true", help="fewer seeds and rows")
    parser.add_argument("--again", action="store_true", help="run studies that have kept results, too")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build" / "reproduction", help="folder of results"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results", help="folder of the pages")
    return parser.parse_args(arguments)


def _run(study: Study, scale: Scale, kept: Path, stopped: Event) -> None:
    start = time.perf_counter()

    def say(text: str) -> None:
        if stopped.is_set():  # a signal reaches the main thread and the commands, but no thread of a study
            raise KeyboardInterrupt
        _say(f"{study.name} {time.perf_counter() - start:4.0f} s: {text}")

    with tempfile.TemporaryDirectory() as folder:
        program = Program(folder=Path(folder))
        outcome = study.run(program, scale, say)
    say(f"done, {program.commands} commands")
    spent = {"commands": program.commands, "seconds": time.perf_counter() - start}
    text = json.dumps({"outcome": outcome.kept(), "spent": spent}, indent=1, allow_nan=False)
    part = kept / f"{study.name}.part"
    part.write_text(text + "\n")
    part.replace(_place(kept, study))


def _write(ready: Sequence[Study], kept: Path, out: Path, scale: str) -> None:
    found = {study.name: json.loads(_place(kept, study).read_text()) for study in ready}
    outcomes = [(study, Outcome.from_kept(found[study.name]["outcome"])) for study in ready]
    (out / "images").mkdir(parents=True, exist_ok=True)
    for picture in (each for _, outcome in outcomes for sheet in outcome.sheets for each in sheet.pictures):
        (out / "images" / picture.name).write_text(picture.svg)
    (out / "reproduction.md").write_text(results_page(outcomes, _listed(ready), scale))
    spent = {name: each["spent"] for name, each in found.items()}
    (out / "speed.md").write_text(speed_page(outcomes, spent))
    _say(f"written: {out / 'reproduction.md'}")


def _listed(ready: Sequence[Study]) -> list[dict[str, str]]:
    """What is not made again, with the tables of studies that have not run."""
    values = read()
    names = {study.name for study in ready}
    waiting = [
        {"paper": "calibration error", "what": table["name"], "status": "not yet run", "reason": WAITS}
        for table in values["table"]
        if table["study"] not in names
    ]
    with_tables = {table["study"] for table in values["table"]}
    for study in STUDIES:
        if study.name not in names | with_tables:
            paper, _, what = study.heading.lower().partition(": ")
            if not what:
                paper, what = "ours", paper
            waiting.append({"paper": paper, "what": what, "status": "not yet run", "reason": WAITS})
    return [*waiting, *values["listed"]]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
