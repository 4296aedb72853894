"""Tests the guarantees of uqcli while everything around it fails: ``make faults``.

It prints the number of faults and every breach of a guarantee, and exits with 1 after a breach.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.findings import Findings
from tests.faults.interruptions import eight_writers, killed_watches, kills, signals
from tests.faults.places import (
    damaged_caches,
    full_disks,
    full_spool,
    read_only_places,
    same_pages,
    vanishing_inputs,
)
from tests.faults.workload import lines, make_files


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
        make_files(folder)
        all_lines = lines(folder)
        small, medium = all_lines[:8], all_lines[8:16]
        sections = {
            "signals": lambda: signals(findings, all_lines, options.signals, options.seed),
            "kills": lambda: kills(findings, all_lines, 16, options.seed),
            "killed watches": lambda: killed_watches(findings, folder, 60, options.seed),
            "eight writers": lambda: eight_writers(findings, folder, 4, options.seed),
            "full disks": lambda: full_disks(findings, medium, [16384, 65536]),
            "full place for copies": lambda: full_spool(findings, folder),
            "read-only places": lambda: read_only_places(findings, small),
            "vanishing inputs": lambda: vanishing_inputs(findings, folder, 24, options.seed),
            "damaged caches": lambda: damaged_caches(findings, folder, 8, options.seed),
            "pages": lambda: same_pages(findings, folder, 20),
        }
        for title, section in sections.items():
            if options.only in (None, title):
                start = time.monotonic()
                section()
                seconds = time.monotonic() - start
                print(f"{title}: {seconds:.0f} s, {len(findings.breaches)} breaches so far", flush=True)
    sys.exit(summarise(findings))


def summarise(findings):
    """Print the counts and the breaches, and return the exit code."""
    for title, count in sorted(findings.counts.items()):
        print(f"{count:6d} {title}")
    print("every guarantee was kept" if not findings.breaches else f"{len(findings.breaches)} breaches")
    return 1 if findings.breaches else 0


if __name__ == "__main__":
    main()
