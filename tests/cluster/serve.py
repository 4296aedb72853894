"""Run a command beside a cluster: ``python -m tests.cluster.serve COMMAND ...``; SPARK_REMOTE is its address.

The settings of the cluster are such as could change results, were they not set by each session.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cluster.cluster import OTHER_SETTINGS, QUICK_SETTINGS, Cluster


def main():
    """Start the cluster, run the command, and end with its exit code."""
    python = Path(os.environ["UQCLI_CLUSTER_PYTHON"]).absolute()
    settings = OTHER_SETTINGS | QUICK_SETTINGS
    with tempfile.TemporaryDirectory() as folder, Cluster(python, Path(folder), settings) as cluster:
        environment = {**os.environ, "SPARK_REMOTE": cluster.address}
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
