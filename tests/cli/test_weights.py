"""Tests of the caution about weights that are not row counts: in reports, in JSON, and in Python."""

import polars as pl
import pytest

from uqcli import commands as uq

CAUTION = "a weight of n must stand for n independent rows"


@pytest.fixture
def amounts(frame, tmp_path):
    """Write rows with amounts of money as weights; without days, so that this is the weightiest caution."""
    frame.drop("when").with_row_index("amount").with_columns(pl.col("amount") % 90 + 1).write_parquet(
        tmp_path / "a.parquet"
    )
    return "a.parquet", "--weight", "amount"


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "command",
    [
        ("tce",),
        ("boundary", "--precision", "0.6"),
        ("boundary", "--precision", "0.6", "--algorithm", "st"),
        ("calibrate", "--method", "platt"),
        ("conformal",),
        ("bin",),
    ],
    ids=" ".join,
)
def test_amounts_as_weights_give_a_caution(uqcli, amounts, command, tmp_path):
    assert CAUTION in " ".join(uqcli(*command, *amounts).out.decode().split())
    report = uqcli(*command, *amounts, "--json", "--report", "r.md")
    assert CAUTION in report.json["cautions"][0]
    assert CAUTION in (tmp_path / "r.md").read_text()
    assert uqcli(*command, amounts[0], "--json").json["cautions"] == []


def test_evaluate_also_gives_a_caution_except_for_counts_of_rows(uqcli, amounts, artifact, frame, tmp_path):
    assert CAUTION in uqcli("evaluate", artifact, *amounts, "--json").json["cautions"][0]
    rounded = pl.concat([frame.with_columns(pl.col("score").round(1), pl.col("uncertainty").round(0))] * 1)
    grouped = rounded.group_by("score", "uncertainty", "label").len("rows")
    grouped.write_parquet(tmp_path / "g.parquet")
    for command in (("tce",), ("boundary", "--precision", "0.6"), ("evaluate", artifact)):
        report = uqcli(*command, "g.parquet", "--weight", "rows", "--json")
        assert (report.code, report.json["cautions"]) == (0, [])


def test_python_has_the_cautions(frame):
    weighted = frame.with_columns(w=frame.with_row_index("w")["w"] % 90 + 1)
    found = uq.boundary(weighted, weight="w", precision=0.6)
    assert any("a weight of n must stand for n independent rows" in text for text in found.cautions)
    customers = frame.with_columns(customer=frame.with_row_index("w")["w"] // 4)
    rule = uq.boundary(customers, cluster="customer", precision=0.6).rule
    tested = uq.evaluate(rule, frame)
    assert any("was fitted with --cluster customer, a column" in text for text in tested.cautions)
