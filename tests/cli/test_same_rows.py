"""Tests of the numbers on twenty rows that docs show beside those of other packages."""

import pytest

from reproduction.same_rows import own_values
from tests.documentation.quoted import measured


def test_the_program_says_what_the_record_has(uqcli):
    found = own_values(lambda *words: uqcli(*words).out.decode())
    start = "same rows/uqcli/"
    recorded = {
        name.removeprefix(start): entry["value"]
        for name, entry in measured().items()
        if name.startswith(start)
    }
    assert found == pytest.approx(recorded, rel=1e-12)


def test_certain_misses_are_a_caution(uqcli, tmp_path):
    rows = "score,label\n" + "0.2,0\n0.9,1\n" * 30
    (tmp_path / "rows.csv").write_text(rows + "1,1\n0,0\n")
    assert "exactly 0 or 1" not in uqcli("tce", tmp_path / "rows.csv", "--json").out.decode()
    (tmp_path / "rows.csv").write_text(rows + "1,0\n0,1\n0,1\n")
    notes = uqcli("tce", tmp_path / "rows.csv", "--json").out.decode()
    assert "3 rows have a score of exactly 0 or 1 and the other label." in notes
