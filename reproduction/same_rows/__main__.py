"""Install the packages, measure the rows, and write docs/peers.json: ``python -m reproduction.same_rows``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from datetime import date
from pathlib import Path
from typing import Any

from reproduction.same_rows import HERE, PINNED, RECORD, ROWS, in_process, own_values
from uqcli.base.defaults import VERSION


def main() -> int:
    """Measure with each environment, with R, and with uqcli."""
    if shutil.which("Rscript") is None:
        sys.exit("no Rscript: install R with its packages rms and pROC")
    values: dict[str, float | str] = {
        f"uqcli/{name}": value for name, value in own_values(in_process).items()
    }
    versions = {"uqcli": VERSION}
    for packages in PINNED.values():
        found = _in_environment(packages)
        values.update(found["values"])
        versions.update(found["versions"])
    for line in _output(["Rscript", str(HERE / "peers.R"), str(ROWS)]).splitlines():
        first, second, third, *_ = line.split("\t")
        if first == "version":
            versions[second] = third
        else:
            values[f"{first}/{second}"] = float(third)
    record = {
        f"same rows/{name}": {"value": value, "version": versions[name.split("/")[0]]}
        for name, value in sorted(values.items())
    }
    record["same rows/date"] = {"value": date.today().isoformat(), "version": ""}
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in record.items())
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


def _in_environment(packages: tuple[str, ...]) -> dict[str, Any]:
    """Run the script in a fresh environment with these packages."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True
        )
        content: dict[str, Any] = json.loads(_output([python, str(HERE / "peers.py"), str(ROWS)]))
        return content


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
