"""A whole number is one group, customer or id, whether a file writes it as 2 or as 2.0."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import fit
from uqcli.engines.local.check import batches, values
from uqcli.engines.local.check.values import key_texts

ROWS = 400
COMMANDS = {
    "boundary --by": "boundary {} --precision 0.6 --by shop --min-group 50 --score-bins 20",
    "boundary --cluster": "boundary {} --precision 0.6 --cluster customer --score-bins 20",
    "tce --by": "tce {} --by shop --audit region --bootstrap 0",
    "evaluate --cluster": "evaluate rule.json {} --by region --cluster customer",
    "evaluate": "evaluate rule.json {}",
    "calibrate": "calibrate {} --method heterogeneous --partition shop --min-leaf 20",
    "watch": "watch rule.json {} --cluster customer",
}


def rows():
    random = np.random.default_rng(8)
    score = random.random(ROWS)
    return pl.DataFrame(
        {
            "id": np.arange(ROWS),
            "score": score,
            "label": (random.random(ROWS) < score).astype(int),
            "shop": random.integers(1, 4, ROWS),
            "region": random.integers(-1, 2, ROWS),
            "customer": random.integers(0, 60, ROWS),
        }
    )


KEYS = ["id", "shop", "region", "customer"]


def write_files():
    """Write the rows with whole keys, with floating-point ones in one of two parts, and in every row."""
    floating = rows().with_columns(pl.col(KEYS).cast(pl.Float64))
    rows().write_csv("whole.csv")
    floating.write_parquet("floating.parquet")
    for name, write in (("csv", pl.DataFrame.write_csv), ("jsonl", pl.DataFrame.write_ndjson)):
        Path(name).mkdir()
        write(rows()[:250], f"{name}/1.{name}")
        write(floating[250:], f"{name}/2.{name}")
    Path("parquet").mkdir()
    rows()[:250].write_parquet("parquet/1.parquet")
    floating[250:].write_parquet("parquet/2.parquet")
    fit(f"{COMMANDS['boundary --by']} -o rule.json".format("whole.csv"))


@pytest.fixture
def files(prepared):
    return prepared(write_files)


@pytest.mark.covering("thorough", every=2, also=["csv-watch", "parquet-boundary --by"])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("inputs", ["csv", "parquet", "jsonl", "floating.parquet"])
def test_results_are_those_of_whole_numbers(uqcli, files, command, inputs):
    outcomes = [uqcli(*COMMANDS[command].format(name).split(), "--json") for name in ("whole.csv", inputs)]
    assert [outcome.code for outcome in outcomes] == [0, 0]
    assert outcomes[0].out == outcomes[1].out


def test_a_rule_knows_groups_in_both_forms(uqcli, files):
    saved = json.loads(Path("rule.json").read_text())
    saved["groups"] = {f"{name}.0": group for name, group in saved["groups"].items()}
    del saved["digest"]  # as in a rule of an older version, fitted on floating-point numbers
    Path("older.json").write_text(json.dumps(saved))
    for rule in ("rule.json", "older.json"):
        for inputs in ("whole.csv", "floating.parquet"):
            assert uqcli("apply", rule, inputs, "-q", "-o", f"{rule}-{inputs}.csv").code == 0
    decisions = [pl.read_csv(path)["decision"].to_list() for path in Path().glob("*.json-*.csv")]
    assert len(decisions) == 4
    assert decisions[1:] == decisions[:1] * 3


def test_labels_are_joined_by_whole_numbers(uqcli, files):
    rows().select("id", "label").write_csv("labels.csv")
    scores = rows().drop("label").with_columns(pl.col("id").cast(pl.Float64))
    scores.write_csv("scores.csv")
    joined = uqcli("tce", "scores.csv", "--labels", "labels.csv", "--on", "id", "--bootstrap", 0, "--json")
    whole = uqcli("tce", "whole.csv", "--bootstrap", 0, "--json")
    assert joined.json["metrics"] == whole.json["metrics"]
    text = Path("labels.csv").read_text()
    Path("labels.csv").write_text(f"{text}7.0,1\n")
    outcome = uqcli("tce", "scores.csv", "--labels", "labels.csv", "--on", "id")
    assert (outcome.code, "with an id that repeats, such as '7'" in outcome.err) == (3, True)


def test_a_state_knows_the_customers_of_older_versions(uqcli, files, monkeypatch):
    """Versions up to 0.4 took 7 and 7.0 for two customers."""
    rows()[:200].with_columns(pl.col("customer").cast(pl.Float64)).write_csv("old.csv")
    rows()[200:].write_csv("new.csv")
    line = ("watch", "rule.json", "--cluster", "customer", "--json")
    for state in ("older.json", "newer.json"):
        with monkeypatch.context() as patch:
            if state == "older.json":
                for module in (values, batches):
                    patch.setattr(module, "whole_numbers", lambda text: text)
            assert uqcli(*line, "old.csv", "--state", state).code in (0, 6)
    older, newer = (uqcli(*line, "new.csv", "--state", state).json for state in ("older.json", "newer.json"))
    assert older["metrics"] == newer["metrics"]
    assert json.loads(Path("older.json").read_text()) != json.loads(Path("newer.json").read_text())


def whole(text):
    """Return the integer that a text names as a floating-point number, or the text."""
    head, point, fraction = text.partition(".")
    digits = head.removeprefix("-")
    is_whole = digits.isascii() and digits.isdigit() and str(int(digits)) == digits
    return str(int(head)) if is_whole and (point, fraction) == (".", "0") else text


NUMBERS = st.integers().map(str) | st.integers(-20, 20).map(str)
TEXTS = st.sampled_from(
    ["02.0", "1e3", "2.50", "-0.0", "0.0", ".0", "-.0", "2.00", "+2.0", "٣.0", "a.0", "1.0.0"]
)


@given(st.lists(NUMBERS.map(lambda text: f"{text}.0") | NUMBERS | TEXTS | st.none(), min_size=1))
def test_only_texts_of_digits_and_a_zero_are_whole(texts):
    keys = key_texts(pl.Series(texts, dtype=pl.String), "key")
    assert keys.to_list() == [None if text is None else whole(text) for text in texts]


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1))
def test_whole_floating_point_keys_are_integers(numbers):
    keys = key_texts(pl.Series(numbers, dtype=pl.Float64), "key")
    assert keys.to_list() == [str(number) for number in numbers]
