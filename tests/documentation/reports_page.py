"""The JSON reports as Markdown: the keys that each command gives, found by running it on the sample data."""

import json
import re
import tempfile
from functools import cache
from pathlib import Path

from uqcli.cli.app import run

SAMPLE = Path(__file__).parents[2] / "sample_data"

HEAD = """# JSON reports

`--json` prints one object, and `--report FILE.json` writes it. The same options give the same keys on every
run. Numbers are never NaN or infinite: undefined values are null. Every report has these keys:

- `command` and `uqcli_version`
- `source`: numbers of rows read, positive rows and dropped rows, and the columns read
- `parameters`: the options that affect the result, with the values used
- `metrics`: names for `--fail-if` and `.prom` files, with dots (`precision.low`); see [metrics](metrics.md)
- `notes`: sentences for people, whose wording changes between versions

`[]` is a list, and `*` stands for a name from the data: a class, a group or a column. `make reference` writes
this page from reports on the sample data.
"""


def sample_runs(folder):
    """Command lines by what they show, in an order in which models are made before they are read."""
    binary = [str(SAMPLE / f"digits_{each}.csv") for each in ("holdout", "new")]
    classes = [str(SAMPLE / f"digits_proba_{each}.csv") for each in ("holdout", "new")]
    proba = ["--proba", "p_*"]
    at = {name: str(folder / f"{name}.json") for name in ("b", "c", "d", "s", "k")}
    return {
        "bin": ["bin", binary[0], "--score-bins", "4"],
        "boundary": ["boundary", binary[0], "--precision", "0.9", "-o", at["b"]],
        "boundary --compare": ["boundary", binary[0], "--precision", "0.9", "--compare"],
        "boundary --certify": [
            "boundary",
            binary[0],
            "--precision",
            "0.9",
            "--certify",
            "0.1",
            "-o",
            at["d"],
        ],
        "calibrate": ["calibrate", binary[0], "-o", at["c"]],
        "tce": ["tce", binary[1]],
        "tce --bootstrap": ["tce", binary[1], "--bootstrap", "20"],
        "tce --by": ["tce", binary[1], "--by", "digit"],
        "shift": ["shift", classes[0], "--target", classes[1], *proba, "-o", at["s"]],
        "conformal": ["conformal", classes[0], *proba, "-o", at["k"]],
        "apply": ["apply", at["b"], binary[1], "-o", str(folder / "rows.csv")],
        "evaluate, a boundary": ["evaluate", at["b"], binary[1]],
        "evaluate, two boundaries": ["evaluate", at["b"], at["d"], binary[1]],
        "evaluate, a calibrator": ["evaluate", at["c"], binary[1]],
        "evaluate, prediction sets": ["evaluate", at["k"], classes[1]],
        "simulate": ["simulate", "gaussian", "--rows", "1000", "-o", str(folder / "drawn.csv")],
        "show": ["show", at["b"]],
        "show, two rule files": ["show", at["b"], at["d"], "--on", binary[1]],
    }


@cache
def sample_reports():
    """JSON reports by what they show."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        found = {}
        for number, (name, arguments) in enumerate(sample_runs(folder).items()):
            report = folder / f"report{number}.json"
            code = run([*arguments, "--no-config", "-q", "--report", str(report)])
            assert code == 0, name
            found[name] = json.loads(report.read_text())
        return found


def reports_page():
    """All commands with their keys."""
    lines = [HEAD]
    for name, report in sample_reports().items():
        lines += [f"## `{name}`", "", "| key | type |", "|---|---|"]
        lines += [f"| `{key}` | {' or '.join(sorted(kinds))} |" for key, kinds in keys_of(report).items()]
        lines += [""]
    return "\n".join(lines)


def keys_of(report):
    """Types by dotted key."""
    found = {}
    for key, value in report.items():
        if key not in ("command", "uqcli_version", "notes"):
            _walk(_plain(key), value, found)
    return found


def _walk(path, value, found):
    if isinstance(value, dict):
        for key, each in value.items():
            _walk(f"{path}.{_plain(key)}", each, found)
    elif isinstance(value, list):
        for each in value or [None]:
            _walk(f"{path}[]", each, found)
    else:
        found.setdefault(path, set()).add(_type(value))


def _plain(key):
    """Digits are classes of the sample data."""
    return "*" if re.fullmatch(r"\d+|p_.*", key) else key


def _type(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"
