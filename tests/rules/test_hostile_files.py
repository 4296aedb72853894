"""Tests that a rule file from anybody is read within limits, or refused in one short sentence."""

import json
import re
import subprocess
import sys

import polars as pl
import pytest

from uqcli.base import defaults
from uqcli.base.errors import ArtifactError, DataError
from uqcli.cli.app import run
from uqcli.rules import codec, saved
from uqcli.rules.codec import decode, digest_of, encode_object

LARGE = 400


def fit(line):
    assert run([*line.split(), "-q"]) == 0, line


def rules():
    """Fit one rule of each shape, by name."""
    rows = {
        "score": [i / 400 for i in range(400)],
        "uncertainty": [(i * 7 % 13) / 13 for i in range(400)],
        "label": [int(i % 7 < i / 80) for i in range(400)],
        "p_a": [1 - i / 400 for i in range(400)],
        "p_b": [i / 400 for i in range(400)],
        "g": ["ab"[i % 2] for i in range(400)],
    }
    frame = pl.DataFrame(rows)
    frame.write_csv("r.csv")
    frame.with_columns(label=pl.col("label").replace_strict({0: "a", 1: "b"})).write_csv("c.csv")
    fit("boundary r.csv --precision 0.6 -o boundary.json")
    fit("boundary r.csv --precision 0.6 --by g --min-group 20 -o groups.json")
    fit("calibrate r.csv --method isotonic --bootstrap 0 -o isotonic.json")
    fit("calibrate r.csv --method heterogeneous --partition g --bootstrap 0 -o parts.json")
    fit("calibrate c.csv --proba p_* --method vector --bootstrap 0 -o classes.json")
    fit("conformal c.csv --proba p_* --by g -o sets.json")
    fit("bin r.csv --score-bins 5 -o grid.json")
    fit("watch boundary.json r.csv --state state.json")
    names = ("boundary", "groups", "isotonic", "parts", "classes", "sets", "grid", "state")
    contents = {}
    for name in names:
        with open(f"{name}.json", encoding="utf-8") as file:  # noqa: PTH123
            contents[name] = json.load(file)
    return contents


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    import contextlib

    with contextlib.chdir(tmp_path_factory.mktemp("rules")):
        return rules()


def steps_of(content):
    """Count the lines of Python that run while a content is decoded, whether it is a rule or not."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        count += event in {"line", "call"}
        return trace

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        decode(content, "rule.json")
    except ArtifactError as error:
        assert len(error.message) < 2500  # noqa: PT017
    finally:
        sys.settrace(old)
    return count


def text_of(fields):
    return encode_object({**fields, "digest": digest_of(fields)})


def grown_groups(fields, n):
    (group, *_) = fields["groups"].values()
    return text_of({**fields, "groups": {f"g{i}": group for i in range(n)}})


def grown_isotonic(fields, n):
    values = [i / (n + 1) for i in range(n)]
    return text_of({**fields, "calibration": {**fields["calibration"], "x": values, "y": values}})


def grown_parts(fields, n):
    calibration = fields["calibration"]
    features = [{**calibration["features"][0], "levels": [f"l{i}" for i in range(n)]}]
    leaves = [calibration["leaves"][0]] * (n + 1)
    groups = [[f"l{i}"] for i in range(n)]
    calibration = {**calibration, "features": features, "groups": groups, "leaves": leaves}
    return text_of({**fields, "calibration": calibration})


def grown_sets(fields, n):
    groups = fields["groups"]
    grown = {**groups, "names": [f"g{i:06}" for i in range(n)]}
    for key in ("thresholds", "calibration_rows"):
        grown[key] = [groups[key][0]] * n
    return text_of({**fields, "groups": grown})


def grown_state(fields, n):
    batch = fields["batches"][0]
    empty = [{"successes": 0, "trials": 0} for _ in batch["counts"]]
    batches = [{"digest": f"{i:064x}", "counts": empty, "clusters": [f"{i:016x}"]} for i in range(n)]
    promises = [{**promise, "successes": 0, "trials": 0} for promise in fields["promises"]]
    return text_of({**fields, "batches": batches, "promises": promises})


GROWN = {
    "repeated keys": lambda fitted, n: b"{" + b", ".join([b'"a": 1'] * n) + b"}",
    "other keys": lambda fitted, n: text_of({**fitted["boundary"], **{f"k{i}": i for i in range(n)}}),
    "doubts": lambda fitted, n: text_of({**fitted["boundary"], "doubts": [f"doubt {i}" for i in range(n)]}),
    "thresholds": lambda fitted, n: text_of(
        {**fitted["boundary"], "uncertainty_edges": [float(i) for i in range(n - 1)], "thresholds": [0.5] * n}
    ),
    "groups": lambda fitted, n: grown_groups(fitted["groups"], n),
    "map": lambda fitted, n: grown_isotonic(fitted["isotonic"], n),
    "parts": lambda fitted, n: grown_parts(fitted["parts"], n),
    "groups of sets": lambda fitted, n: grown_sets(fitted["sets"], n),
    "batches": lambda fitted, n: grown_state(fitted["state"], n),
}


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("growth", GROWN)
def test_reading_takes_steps_in_proportion_to_the_size(fitted, growth):
    once, twice = (steps_of(GROWN[growth](fitted, n)) for n in (LARGE, 2 * LARGE))
    assert twice <= 2.05 * once


def nested(levels, inner="1"):
    return "[" * levels + inner + "]" * levels


def odd_contents(fields):
    """Yield contents that are no rules, by what is wrong with them."""
    start = json.dumps(fields)[:-1]
    for levels in (200, 600, 900, 5000, 100_000):
        yield f"{levels} arrays", f'{start}, "parameters": {nested(levels)}}}'
        yield f"{levels} unknown arrays", f'{start}, "more": {nested(levels)}}}'
        yield f"{levels} objects", f'{start}, "more": {"{"!s}"a":' * levels + "1" + "}" * levels + "}"
    for digits in (20, 400, 5000, 200_000):
        for key in ("format_version", "uqcli_version", "kind", "source", "digest", "more"):
            rest = json.dumps({name: value for name, value in fields.items() if name != key})[:-1]
            yield f"{key} of {digits} digits", f'{rest}, "{key}": {"9" * digits}}}'
            yield f"text {key} of {digits} digits", f'{rest}, "{key}": "{"9" * digits}.{"9" * digits}"}}'
    for key in fields:
        rest = json.dumps({name: value for name, value in fields.items() if name != key})[:-1]
        for value in ("null", "[]", "{}", '""', "-1", "1e400", "true", '"\\ud800"', '"\\u0000"', "[[], {}]"):
            yield f"{key} is {value}", f'{rest}, "{key}": {value}}}'
    for text in (
        "",
        "{",
        "[]",
        "null",
        "NaN",
        '"a"',
        "\ufeff{}",
        "{}{}",
        '{"kind": {}, "format_version": []}',
    ):
        yield f"{text!r} alone", text
    long = "x" * 100_000
    yield "a key that repeats", "{" + ", ".join(['"a": 1'] * 200_000) + "}"
    yield "a long key", f'{start}, "{long}": 1}}'
    yield "a long key twice", f'{start}, "{long}": 1, "{long}": 1}}'
    yield "a long kind", f'{start}, "kind": "{long}"}}'
    yield (
        "a long column",
        json.dumps(
            {
                **fields,
                "source": {**fields["source"], "columns": {**fields["source"]["columns"], "score": long}},
            }
        ),
    )


@pytest.mark.covering("thorough", every=8)
@pytest.mark.parametrize(
    "name", ["boundary", "groups", "isotonic", "parts", "classes", "sets", "grid", "state"]
)
def test_whatever_fails_while_it_is_parsed_is_no_rule(fitted, name):
    for problem, text in odd_contents(fitted[name]):
        try:
            decode(text.encode("utf-8", "surrogatepass"), "rule.json")
        except ArtifactError as error:
            assert len(error.message) < 2500, problem  # noqa: PT017
            assert "\n" not in error.message  # noqa: PT017


def test_a_rule_file_beyond_the_limit_is_refused_before_it_is_parsed(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(codec, "MAX_RULE_BYTES", 20_000)
    monkeypatch.setattr(codec, "_READ", 20_001)
    fields = rules()
    (tmp_path / "large.json").write_text(json.dumps(fields["boundary"]) + " " * 20_000)
    (tmp_path / "state.json").write_text(json.dumps(fields["state"]) + " " * 20_000)
    lie = b'{"kind": "watch", "x": "' + b"x" * 30_000 + b'"}'
    (tmp_path / "lie.json").write_bytes(lie)
    monkeypatch.setattr(codec, "decode", lambda *_: pytest.fail("it is parsed"))
    for line in (
        "apply large.json r.csv",
        "apply lie.json r.csv",
        "boundary --grid lie.json --precision 0.5",
        "evaluate large.json r.csv",
        "show large.json",
        "export large.json --to sql",
    ):
        assert run(line.split()) == 3
        message = capfd.readouterr().err
        assert re.match(r"error: '(large|lie)\.json' has more than 64 MB", message)
        assert message.count("\n") == 1
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert run(["show", "state.json", "-q"]) == 0


def test_a_rule_that_would_be_too_large_is_refused_before_the_search(tmp_path, monkeypatch, capfd):
    rules()
    monkeypatch.setattr(saved, "MAX_RULE_BYTES", 200)
    for file in ("r.csv", "c.csv"):
        named = pl.concat_str("g", pl.lit("x" * 150)).alias("long")
        pl.read_csv(file).with_columns(named).write_csv(file)
    for line in (
        "boundary r.csv --precision 0.6 --by g --min-group 20",
        "calibrate r.csv --method heterogeneous --partition long --bootstrap 0",
        "conformal c.csv --proba p_* --by long",
    ):
        assert run([*line.split(), "-o", "new.json"]) == 3, line
        assert "the rule would be larger than 0 MB" in capfd.readouterr().err
        assert not (tmp_path / "new.json").exists()


def test_names_that_no_rule_file_may_have_are_refused_before_the_search(tmp_path, capfd):
    rules()
    name = "x" * (defaults.MAX_NAME + 1)
    for file in ("r.csv", "c.csv"):
        pl.read_csv(file).with_columns(pl.concat_str("g", pl.lit(name)).alias("g")).write_csv(file)
    for line in (
        "boundary r.csv --precision 0.6 --by g --min-group 20",
        "calibrate r.csv --method heterogeneous --partition g --bootstrap 0",
        "conformal c.csv --proba p_* --by g",
    ):
        assert run([*line.split(), "-o", "new.json"]) == 3, line
        message = capfd.readouterr().err
        assert "has a name of 4,098 characters; expected at most 4,096" in message
        assert len(message) < 500
        assert not (tmp_path / "new.json").exists()


@pytest.mark.covering("thorough", every=9)
@pytest.mark.parametrize(
    "text", ["[],", "{},", '{"a": 1},', "1e308,", "-1e308,", "0.5,", "[[", '"x",', "1e308, [],"]
)
def test_a_rule_of_any_shape_is_refused_or_read_in_moderate_memory(fitted, tmp_path, text):
    """Three megabytes take at most a twentieth of what a rule may take, beside what the process has."""
    repeated = (text * (3_000_000 // len(text))).rstrip(",")
    fields = json.dumps({name: value for name, value in fitted["boundary"].items() if name != "parameters"})[
        :-1
    ]
    (tmp_path / "rule.json").write_text(f'{fields}, "parameters": {{"x": [{repeated}]}}}}')
    peak = (
        "import sys; from uqcli.cli.app import run; code = run(sys.argv[1:]); "
        "lines = open('/proc/self/status'); "
        "print(code, *[line.split()[1] for line in lines if line[:5] == 'VmHWM'], file=sys.stderr)"
    )
    process = subprocess.run(
        [sys.executable, "-c", peak, "show", "rule.json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    *_, code, kilobytes = process.stderr.split()
    assert int(code) in {3, 5}
    assert int(kilobytes) < 700_000


@pytest.mark.parametrize(("limit", "value"), [("_MAX_LARGE", -1), ("MAX_NAME", 3), ("_MAX_VALUES", 5)])
def test_what_could_not_be_read_is_not_written(fitted, monkeypatch, limit, value):
    content = text_of(fitted["boundary"])
    rule = decode(content, "rule.json")
    codec.encode(rule)
    monkeypatch.setattr(codec, limit, value)
    with pytest.raises(DataError, match="do not give a boundary that could be used"):
        codec.encode(rule)
