"""``make faults``: what the program promises while everything around it breaks.

Prints what was tried and every promise that was broken; ends with 1 if there is one.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.findings import Findings
from tests.faults.interruptions import eight_writers, killed, signals
from tests.faults.places import (
    damaged_caches,
    full_disks,
    read_only_places,
    same_pages,
    spool_that_is_full,
    vanishing_inputs,
)
from tests.faults.workload import lines, make


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signals", type=int, default=500)
    parser.add_argument("--only", help="one section by its title")
    options = parser.parse_args()
    findings = Findings()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        make(folder)
        every = lines(folder)
        small, medium = every[:8], every[8:16]
        sections = {
            "signals": lambda: signals(findings, every, options.signals, options.seed),
            "kills": lambda: killed(findings, every, 16, options.seed),
            "eight writers": lambda: eight_writers(findings, folder, 4, options.seed),
            "full disks": lambda: full_disks(findings, medium, [16384, 65536]),
            "full place for copies": lambda: spool_that_is_full(findings, folder),
            "read-only places": lambda: read_only_places(findings, small),
            "vanishing inputs": lambda: vanishing_inputs(findings, folder, 24, options.seed),
            "damaged caches": lambda: damaged_caches(findings, folder, 8, options.seed),
            "pages": lambda: same_pages(findings, folder, 20),
        }
        for title, section in sections.items():
            if options.only in (None, title):
                begin = time.monotonic()
                section()
                seconds = time.monotonic() - begin
                print(f"{title}: {seconds:.0f} s, {len(findings.breaches)} breaches so far", flush=True)
    sys.exit(summarised(findings))


def summarised(findings):
    """Print what was counted and what was broken; the exit code."""
    for title, count in sorted(findings.counts.items()):
        print(f"{count:6d} {title}")
    print("every promise was kept" if not findings.breaches else f"{len(findings.breaches)} breaches")
    return 1 if findings.breaches else 0


if __name__ == "__main__":
    main()
