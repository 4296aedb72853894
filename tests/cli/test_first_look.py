"""Files as people write them: an error names all that is unusual, and a command that reads them."""

import itertools
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.columns import usually_named
from uqcli.engines.notation import form_of

N = 90
RANDOM = np.random.default_rng(8)
SHARES = RANDOM.integers(1, 1000, N)
POSITIVE = RANDOM.random(N) < SHARES / 1000
LABELS = {"0/1": ("1", "0"), "yes/no": ("yes", "no"), "ja/nein": ("Ja", "Nein"), "sim/não": ("sim", "não")}
NAMES = {
    "plain": ("score", "label"),
    "usual": ("pd", "is_fraud"),
    "formed": ("fraud_score", "bad_label"),
    "foreign": ("Wahrscheinlichkeit", "Betrug"),
}
DELIMITERS = {"commas": ",", "semicolons": ";", "tabs": "\t"}
READ_WITH = "read it with: uqcli "


def texts(share, *, decimal, percent):
    number = f"{share // 10}.{share % 10} %" if percent else f"0.{share:03}"
    return number.replace(".", decimal)


def written(delimiter, names, labels, *, decimal=".", percent="", null="", index=""):
    """Write the rows as a file in some form; a null is in addition to the rows."""
    score, label = NAMES[names]
    yes, no = LABELS[labels]
    columns = [*([index] if index != "none" else []), "Tag", score, label]
    lines = [
        [texts(int(share), decimal=decimal, percent=percent), yes if positive else no]
        for share, positive in zip(SHARES, POSITIVE, strict=True)
    ]
    lines += [[null, no]] if null else []
    rows = [
        [*([str(row)] if index != "none" else []), f"{row % 28 + 1:02}.12.2026", *line]
        for row, line in enumerate(lines)
    ]
    quoted = [[f'"{cell}"' if delimiter in cell else cell for cell in row] for row in (columns, *rows)]
    return "\n".join([*map(delimiter.join, quoted), ""])


FORMS = list(
    itertools.product(
        DELIMITERS, NAMES, LABELS, [".", ","], ["", "percent"], ["", "n/a", "-"], ["none", "", "Unnamed: 0"]
    )
)


@pytest.fixture
def plain(uqcli, tmp_path):
    """Return the metrics of the rows in the usual form."""
    Path("plain.csv").write_text(
        "\n".join(["score,label", *(f"0.{s:03},{int(y)}" for s, y in zip(SHARES, POSITIVE, strict=True)), ""])
    )
    return uqcli("tce", "plain.csv", "--json").json["metrics"]


def command_in(message):
    """Return the words of the command line that an error shows."""
    return shlex.split(message[message.index(READ_WITH) + len(READ_WITH) :])


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("form", FORMS[:: len(FORMS) // 24 + 1], ids="-".join)
def test_the_command_that_an_error_shows_reads_the_file(uqcli, plain, form):
    delimiter, names, labels, decimal, percent, null, index = form
    text = written(
        DELIMITERS[delimiter], names, labels, decimal=decimal, percent=percent, null=null, index=index
    )
    Path("x.csv").write_text(text, encoding="utf-8-sig")
    outcome = uqcli("tce", "x.csv", "--json")
    if outcome.code:
        assert outcome.code == 3
        outcome = uqcli(*command_in(outcome.err))
    assert outcome.code == 0, outcome.err
    found = outcome.json["metrics"]
    assert {**found, "dropped_share": 0} == {**plain, "dropped_share": 0}
    assert outcome.json["source"]["dropped"] == (1 if null else 0)


def test_an_error_names_all_that_was_found(uqcli):
    form = {"decimal": ",", "percent": "percent", "null": "k.A.", "index": "__index_level_0__"}
    Path("x.csv").write_text(written(";", "foreign", "ja/nein", **form))
    words = (
        "no columns 'score' and 'label'",
        "semicolons between fields",
        "decimal commas in 'Wahrscheinlichkeit'",
        "percent signs in 'Wahrscheinlichkeit'",
        "labels 'Ja' and 'Nein' in 'Betrug'",
        "dates such as 01.12.2026 in 'Tag'",
        "missing values written 'k.A.'",
        "row numbers in '__index_level_0__'",
    )
    options = "--score Wahrscheinlichkeit --label Betrug --decimal , --null-value k.A. --positive Ja"
    outcome = uqcli("boundary", "x.csv", "--precision", "0.9", "-o", "rule.json")
    assert all(word in outcome.err for word in words), outcome.err
    line = f"read it with: uqcli boundary x.csv --precision 0.9 -o rule.json {options} --on-invalid drop\n"
    assert outcome.err.endswith(line)
    # a wrong guess
    outcome = uqcli("tce", "x.csv", "--score=Wahrscheinlichkeit", "--label", "Betrug", "--positive", "Ja")
    assert "unreadable value" in outcome.err
    assert all(word in outcome.err for word in words[1:])


def test_the_first_look_reads_what_is_clear_and_says_how(uqcli, plain):
    Path("x.csv").write_text(written(";", "foreign", "ja/nein", decimal=",", percent="percent"))
    report = uqcli("x.csv", "--json").json
    tce = {name: report["metrics"]["tce"][name] for name in plain if name != "dropped_share"}
    assert tce == {name: plain[name] for name in tce}
    assert report["taken"] == [
        {"option": "score", "values": ["Wahrscheinlichkeit"]},
        {"option": "label", "values": ["Betrug"]},
        {"option": "decimal", "values": [","]},
        {"option": "positive", "values": ["Ja"]},
    ]
    shown = uqcli("x.csv").out.decode()
    assert "read with --decimal , --positive Ja" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("Next: ")]
    assert uqcli(*shlex.split(line)[2:], "-q").code == 0


def test_the_first_look_leaves_no_row_out_unasked(uqcli):
    Path("x.csv").write_text(written(";", "foreign", "ja/nein", decimal=",", null="n/a"))
    outcome = uqcli("x.csv")
    assert outcome.code == 3
    assert uqcli(*command_in(outcome.err)).code == 0


def test_a_number_in_another_form_is_not_taken_for_a_missing_value(uqcli):
    """Beside texts that mean a missing value, the advice is on those."""
    form = {"decimal": ",", "percent": "percent", "null": "k. A."}
    Path("x.csv").write_text(written(";", "plain", "0/1", **form))
    message = uqcli("tce", "x.csv").err
    assert "if 'k. A.' means a missing value" in message
    assert 'give --decimal ","' in message
    assert message.count("means a missing value") == 1


def test_what_was_typed_or_configured_is_not_guessed(uqcli):
    Path("x.csv").write_text(written(";", "foreign", "ja/nein", decimal=","))
    Path("uqcli.toml").write_text("positive = 'Nein'\nscore = 'Wahrscheinlichkeit'\n")
    report = uqcli("x.csv", "--label", "Betrug", "--json").json
    assert report["taken"] == [{"option": "decimal", "values": [","]}]
    assert report["metrics"]["positives"] == N - int(POSITIVE.sum())
    outcome = uqcli("tce", "x.csv")
    assert command_in(outcome.err) == ["tce", "x.csv", "--label", "Betrug", "--decimal", ","]


def test_a_file_that_pandas_wrote_is_read(uqcli):
    frame = pl.DataFrame(
        {"y_true": POSITIVE.astype(int), "prob_0": 1 - SHARES / 1000, "prob_1": SHARES / 1000}
    )
    index = pl.Series("__index_level_0__", np.arange(N) * 1.5)
    frame.with_columns(index).rename({"prob_1": "pd"}).write_parquet("x.parquet")
    report = uqcli("x.parquet", "--json").json
    assert report["source"]["columns"] == {"score": "pd", "label": "y_true"}
    assert "__index_level_0__" not in report["could_be_uncertainty"]
    frame.with_row_index("Unnamed: 0").write_csv("x.csv")
    assert uqcli("x.csv", "--json").json["source"]["columns"]["score"] == "prob_1"
    frame.rename({"prob_0": "old_score", "prob_1": "new_score"}).write_csv("x.csv")
    outcome = uqcli("x.csv")
    assert "--score may also be 'new_score'" in outcome.err
    assert command_in(outcome.err) == ["overview", "x.csv", "--score", "old_score", "--label", "y_true"]


def test_a_rule_reads_a_file_of_another_form(uqcli):
    Path("fit.csv").write_text(written(",", "plain", "0/1"))
    assert uqcli("boundary", "fit.csv", "--recall", "0.5", "-q", "-o", "rule.json").code == 0
    Path("x.csv").write_text(written(";", "plain", "ja/nein", decimal=",", percent="percent"))
    outcome = uqcli("evaluate", "rule.json", "x.csv", "--json")
    line = command_in(outcome.err)
    assert line == ["evaluate", "rule.json", "x.csv", "--json", "--decimal", ",", "--positive", "Ja"]
    assert uqcli(*line).json["metrics"] == uqcli("evaluate", "rule.json", "fit.csv", "--json").json["metrics"]
    decided = uqcli("apply", "rule.json", "x.csv", "--decimal", ",").out.decode().splitlines()[1:]
    same = uqcli("apply", "rule.json", "fit.csv").out.decode().splitlines()[1:]
    assert [line.endswith("true") for line in decided] == [line.endswith("true") for line in same]


HUNDREDTHS = st.from_regex(
    r"[+-]?([0-9]{1,17}(\.[0-9]{0,17})?|\.[0-9]{1,17})(e[+-]?[0-9]{1,2})?", fullmatch=True
)


@given(HUNDREDTHS, st.sampled_from(["", " ", "\xa0", "\u202f", "  "]))
def test_a_number_of_percent_is_the_double_of_its_hundredth(text, blank):
    from uqcli.engines.local.check.values import hundredths

    sign = "-" if text.startswith("-") else ""
    digits = text.lstrip("+-")
    mantissa, _, exponent = digits.partition("e")
    expected = float(f"{sign}{mantissa}e{int(exponent or 0) - 2}")
    column = pl.Series([f" {text}{blank}% ", "0.5", None, "x%", "%"])
    found = hundredths(column)
    assert found.cast(pl.Float64, strict=False).to_list() == [expected, 0.5, None, None, None]


@pytest.mark.parametrize(
    ("name", "engine"),
    [("x.jsonl", "polars"), *itertools.product(["x.csv", "x.parquet"], ["polars", "spark"])],
)
def test_percent_signs_are_read_in_every_format_and_numeric_column(uqcli, name, engine):
    weight = pl.Series(SHARES % 3 + 1)
    rows = pl.DataFrame({"score": SHARES / 1000, "label": POSITIVE.astype(int), "weight": weight})
    signed = rows.with_columns(
        score=pl.Series([f"{share / 10}\xa0%" for share in SHARES]),
        weight=pl.Series([f"{100 * number}% " for number in weight]),
    )
    write = {"x.csv": signed.write_csv, "x.jsonl": signed.write_ndjson, "x.parquet": signed.write_parquet}
    write[name](name)
    rows.write_parquet("plain.parquet")
    line = ("tce", "--weight", "weight", "--json", "--engine", engine)
    found, expected = uqcli(*line, name), uqcli(*line, "plain.parquet")
    assert found.code == 0, found.err
    assert found.json["metrics"] == expected.json["metrics"]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["0,5", "1"], ("numbers", ",")),
        (["1,234", "2"], ("numbers", "")),
        (["1,234", "0,5"], ("numbers", ",")),
        (["1.5 %", "NaN"], ("numbers", ".")),
        (["1.234,5"], ("texts", "")),
        (["31.12.2026", "-"], ("dates", "")),
        (["31/12/2026"], ("unclear dates", "")),
        (["20261231"], ("numbers", "")),
        (["ja", "nein", "NA"], ("labels", "")),
        (["ja", "nein", "vielleicht"], ("texts", "")),
        (["n/a"], ("nothing", "")),
    ],
)
def test_forms_of_columns(values, form):
    found = form_of(values)
    assert (found.kind, found.decimal) == form


@pytest.mark.parametrize(
    ("columns", "score", "label"),
    [
        (["fraud_score", "is_fraud"], ["fraud_score"], ["is_fraud"]),
        (["PD", "Default"], ["PD"], ["Default"]),
        (["prob_default", "bad_label"], ["prob_default"], ["bad_label"]),
        (["y_score", "y_true"], ["y_score"], ["y_true"]),
        (["other_score", "score", "target", "is_new"], ["score"], ["target"]),
        (["age", "income"], [], []),
    ],
)
def test_usual_names(columns, score, label):
    assert (usually_named(columns, "score"), usually_named(columns, "label")) == (score, label)
