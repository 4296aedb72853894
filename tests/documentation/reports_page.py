"""Makes the page of the JSON reports: the keys of each command, from runs on the sample data."""

import json
import re
import tempfile
import textwrap
from collections import Counter
from functools import cache
from pathlib import Path

from uqcli.base.notices import KINDS
from uqcli.cli.app import run

SAMPLE = Path(__file__).parents[2] / "sample_data"

HEAD = """# JSON reports

`--json` prints one object, and `--report FILE.json` writes it. The same options give the same keys on every
run. Numbers are never NaN or infinite: undefined values are null. Every report has these keys:

- `command` and `uqcli_version`
- `source`: numbers of rows read, positive rows and dropped rows, and the columns read; `read` counts the rows
  of all inputs, those that were left out, and their unusable values by column
- `parameters`: the options that affect the result, with the values used
- `metrics`: names for `--fail-if` and for `.csv` and `.prom` files, with dots (`precision.low`); see
  [metrics](metrics.md)
- `notes`: sentences for people, whose wording changes between versions
- `gates`: each check of `--fail-if` as it was typed (`text`), with the `value` of its metric, the `result`
  (`passed`, `failed` or `undefined`), and the rule file (`artifact`) where there are several
- `cautions`: what can make the result wrong, in words; `doubts` are those about the rule files that were read
- `notices`: all that a reader must not miss, cautions and doubts among them, each with the stable name of its
  kind (`key`), `text` and `weight`. The weightiest is the first, and the one that a terminal shows. See
  [below](#notices).

The lists below say which further keys each command writes. A key without a type is a number. A "range" is an
object with `value`, `low` and `high` (numbers or null), and "as KEY" an object with the keys that are listed
for that one. `[]` is a list, and `*` stands for a name from the data: a class, a group or a column. `make
reference` writes this page from reports on the sample data, so that a null is what they have there.
"""

SHARED = """## Keys of nearly every report

The reports below also have these keys, unless their command reads no such file or column:
"""


ENDS = ("value", "low", "high")
MOST_GONE = 8
"""A report that lacks more keys of another one is listed by itself."""

NOTICES = """## Notices

From 90 on, the result may mean nothing; from 70, it may be wrong; from 50, it is vaguer than it looks.
Below, something was left unused, or it is so of most
results.

| key | weight | meaning |
|---|--:|---|"""


def sample_runs(folder):
    """Return the command lines by title; each can use the rule files of those before it."""
    binary = [str(SAMPLE / f"digits_{sample}.csv") for sample in ("holdout", "new")]
    classes = [str(SAMPLE / f"digits_proba_{sample}.csv") for sample in ("holdout", "new")]
    proba = ["--proba", "p_*"]
    rule_files = {name: str(folder / f"{name}.json") for name in ("b", "c", "d", "s", "k")}
    return {
        "overview": ["overview", binary[0]],
        "overview of two scores": [
            *("overview", str(SAMPLE / "census_first_rows.csv"), "--score", "score,ensemble_score")
        ],
        "bin": ["bin", binary[0], "--score-bins", "4"],
        "boundary": ["boundary", binary[0], "--precision", "0.9", "-o", rule_files["b"]],
        "boundary without a constraint": ["boundary", binary[0]],
        "boundary --compare": ["boundary", binary[0], "--precision", "0.9", "--compare"],
        "boundary --certify": [
            "boundary",
            binary[0],
            "--precision",
            "0.9",
            "--certify",
            "0.1",
            "-o",
            rule_files["d"],
        ],
        "calibrate": ["calibrate", binary[0], "-o", rule_files["c"]],
        "tce": ["tce", binary[1]],
        "tce --bootstrap": ["tce", binary[1], "--bootstrap", "20"],
        "tce --by": ["tce", binary[1], "--by", "digit"],
        "shift": ["shift", classes[0], "--target", classes[1], *proba, "-o", rule_files["s"]],
        "conformal": ["conformal", classes[0], *proba, "-o", rule_files["k"]],
        "apply": ["apply", rule_files["b"], binary[1], "-o", str(folder / "rows.csv")],
        "evaluate, a boundary": ["evaluate", rule_files["b"], binary[1]],
        "evaluate, two boundaries": ["evaluate", rule_files["b"], rule_files["d"], binary[1]],
        "evaluate, a calibrator": ["evaluate", rule_files["c"], binary[1]],
        "evaluate, prediction sets": ["evaluate", rule_files["k"], classes[1]],
        "backtest": [
            *("backtest", str(SAMPLE / "flights_use.parquet"), "--day", "day", "--precision", "0.45"),
            *("--every", "14d"),
        ],
        "backtest --top": [*("backtest", str(SAMPLE / "flights_use.parquet"), "--day", "day", "--top", "30")],
        "boundary --top": [
            *("boundary", str(SAMPLE / "flights_holdout.parquet"), "--top", "30", "--per", "day")
        ],
        "sample": [
            *("sample", rule_files["b"], binary[1], "--for", "precision", "--budget", "20"),
            *("-o", str(folder / "label.csv")),
        ],
        "show": ["show", rule_files["b"]],
        "show, two rule files": ["show", rule_files["b"], rule_files["d"], "--on", binary[1]],
    }


@cache
def sample_reports():
    """Run the command lines, and return their JSON reports by title."""
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        reports = {}
        for index, (name, arguments) in enumerate(sample_runs(folder).items()):
            report = folder / f"report{index}.json"
            code = run([*arguments, "--no-config", "-q", "--report", str(report)])
            assert code == 0, name
            reports[name] = json.loads(report.read_text())
        return reports


def reports_page():
    """Describe the keys of all commands: those of nearly all once, and those that only an option adds."""
    kinds = [f"| `{key}` | {weight} | {meaning} |" for key, (weight, meaning) in KINDS.items()]
    keys = {name: _typed(report) for name, report in sample_reports().items()}
    counts = Counter(item for of_report in keys.values() for item in of_report.items())
    shared = {key: kind for (key, kind), count in counts.items() if 2 * count > len(keys)}
    lines = [HEAD, SHARED, *_block(shared)]
    for name, of_report in keys.items():
        lines += [f"## `{name}`", ""]
        earlier = {other: len(of_report.items() & keys[other].items()) for other in _earlier(name, keys)}
        base = max(earlier, key=earlier.__getitem__, default="")
        known = dict(shared)
        gone = _gone([key for key in keys.get(base, ()) if key not in shared], of_report)
        if base and 2 * earlier[base] > len(of_report) and len(gone) <= MOST_GONE:
            known |= keys[base]
            without = f", without {', '.join(f'`{key}`' for key in gone)}" if gone else ""
            text = f"The keys of [{base}](#{_anchor(base)}){without}, and these, some of another type:"
            lines += [textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False), ""]
        lines += _block({key: kind for key, kind in of_report.items() if known.get(key) != kind})
    return "\n".join([*lines, NOTICES, *kinds, ""])


def _earlier(name, keys):
    """List the earlier reports of the same command."""
    earlier = list(keys)[: list(keys).index(name)]
    return [other for other in earlier if re.split(r"\W", other)[0] == re.split(r"\W", name)[0]]


def _gone(keys, of_report):
    """Name what a report lacks of other keys: an object by its name, if none of its keys is there."""
    names = {}
    for key in keys:
        if key not in of_report:
            stems = [key[: match.start()] for match in re.finditer(r"\.|$", key)]
            gone = [stem for stem in stems if not any(name.startswith(f"{stem}.") for name in of_report)]
            names |= dict.fromkeys(gone[:1])
    return [name for name in names if name not in of_report]


def _anchor(title):
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title))


def _block(keys):
    width = max(len(key) for key in keys)
    lines = [f"{key:{width}}  {kind}".rstrip() for key, kind in keys.items()]
    return ["```text", *lines, "```", ""]


def _typed(report):
    """Return the words for the type of each key, with ranges and equal objects said once."""
    types = {key: " or ".join(sorted(kinds)) for key, kinds in keys_of(report).items()}
    ranges = {}
    for key, kind in types.items():
        stem, _, end = key.rpartition(".")
        if end in ENDS and all(f"{stem}.{other}" in types for other in ENDS):
            ranges[stem] = "range"
        else:
            ranges[key] = "" if kind == "number" else kind
    typed, objects, hidden = {}, {}, []
    for key, kind in ranges.items():
        if any(key.startswith(prefix) for prefix in hidden):
            continue
        for prefix in [key[: match.end()] for match in re.finditer(r"\.", key)]:
            inside = tuple(
                (name.removeprefix(prefix), of) for name, of in ranges.items() if name.startswith(prefix)
            )
            first = objects.setdefault(inside, prefix)
            if first != prefix and len(inside) > 2:
                hidden.append(prefix)
                typed[prefix.rstrip(".")] = f"as {first.rstrip('.')}"
                break
        else:
            typed[key] = kind
    return typed


def keys_of(report):
    """Return the types by dotted key."""
    types = {}
    for key, value in report.items():
        if key not in ("command", "uqcli_version", "notes", "gates", "cautions", "notices"):
            _walk(_with_placeholder(key), value, types)
    return types


def _walk(path, value, types):
    if isinstance(value, dict):
        for key, item in value.items():
            _walk(f"{path}.{_with_placeholder(key)}", item, types)
    elif isinstance(value, list):
        for item in value or [None]:
            _walk(f"{path}[]", item, types)
    else:
        types.setdefault(path, set()).add(_type(value))


def _with_placeholder(key):
    """Replace classes of the sample data (digits) and probability columns (``p_...``) by ``*``."""
    return re.sub(r"^(proba\.)?(?:\d+|p_.*)$", r"\1*", key)


def _type(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"
