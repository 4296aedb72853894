"""Tests of the published values: they are well formed, and every table has a study or a reason."""

from collections import Counter

from reproduction.gaussian import NAMES
from reproduction.studies import STUDIES
from reproduction.study import Status
from reproduction.values import read, tables_of

SETTINGS = {"train", "test", "rows", "noise", "n_min", "n_max", "n_bins", "alpha", "test_of"}


def test_every_table_belongs_to_a_study_and_has_a_value_per_column():
    studies = {study.name for study in STUDIES}
    tables = read()["table"]
    assert max(Counter(table["key"] for table in tables).values()) == 1
    for table in tables:
        assert table["study"] in studies
        assert set(table["columns"]) <= set(NAMES)
    for study in studies:
        for table in tables_of(study):
            assert table.where
            for row in table.rows:
                assert len(row.published) == len(table.columns)
                assert set(row.settings) <= SETTINGS
                assert 0 <= row.settings["test"] <= 1
                assert row.settings["n_min"] <= row.settings["n_max"]
            labels = [row.label for row in table.rows]
            assert len(set(labels)) == len(labels)


def test_values_are_shares_or_per_cent():
    for table in read()["table"]:
        for row in table["rows"]:
            for column, value in zip(table["columns"], row["theirs"], strict=True):
                assert 0 <= value <= (100 if column.startswith("tce") else 1)


def test_the_same_setting_has_the_same_value_in_every_table():
    """Tables 2, 9, 10, 12 and 13 share rows, which shows errors of transcription."""
    values = {}
    for table in read()["table"]:
        for row in table["rows"]:
            defaults = {"n_bins": 10, "alpha": 0.05, "rows": 6000, "noise": 0.0, "test_of": "binomial"}
            settings = {name: row[name] for name in SETTINGS if name in row}
            settings["alpha"] = float(settings.get("alpha", 0.05))
            key = tuple(sorted((defaults | settings).items()))
            for column, value in zip(table["columns"], row["theirs"], strict=True):
                first_value = values.setdefault((key, column), value)
                assert abs(first_value - value) < 0.006, (table["name"], row["label"], column)


def test_every_result_that_no_study_reproduces_has_a_reason():
    for item in read()["listed"]:
        assert set(item) == {"paper", "what", "status", "reason"}
        assert item["status"] in set(Status)
        assert item["reason"]


def test_times_and_recalls_of_the_boundary_paper_are_complete():
    boundary = read()["boundary"]
    assert len(boundary["table4"]["rows"]) == 9
    for values in boundary["table2"]["theirs"].values():
        assert len(values) == len(boundary["table2"]["bounds"])
        assert values == sorted(values, reverse=True)
