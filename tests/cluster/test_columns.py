"""Files as lakes have them give the same on Apache Spark as on this machine, or are refused in a sentence.

The cluster has settings that would change results, were they not set by each session. ``FULL=1`` runs the
2,000 files; else it is 60, other ones for each commit. SPARK_REMOTE names the cluster.
"""

import os
import sys
import zlib

from tests.cluster.compare import BOTH_REFUSE, REFUSED_THERE, SAME, compared
from tests.conftest import commit_of

FILES, SOME = 2000, 60  # of 24 files, less than half would be equal for one commit in thirty


def test_drawn_files_give_the_same_on_a_cluster(tmp_path, capsys):
    begin = 0 if os.environ.get("FULL") else zlib.crc32(commit_of(2).encode()) % (FILES - SOME)
    seeds = range(begin, begin + (FILES if os.environ.get("FULL") else SOME))
    counts, failures = compared(seeds, tmp_path, os.environ["SPARK_REMOTE"])
    with capsys.disabled():
        for (name, kind, outcome), number in sorted(counts.items()):
            sys.stdout.write(f"{number:6} {name} {kind}: {outcome}\n")
    assert not failures, "\n\n".join(failures)
    outcomes = {outcome: counts["all", "", outcome] for outcome in (SAME, BOTH_REFUSE, REFUSED_THERE)}
    assert outcomes[SAME] > len(seeds) / 2
