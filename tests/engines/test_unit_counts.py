"""Contract tests, on every engine, of rows counted by unit, by column of their places, and by label."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.test_partitions import RECORDS, ROLES, SCORES, frame
from tests.engines.test_tables import EXAMPLES, write_inputs
from uqcli.base.draws import text_keys
from uqcli.engines.protocol import Places
from uqcli.engines.request import DataRequest

EDGES = st.lists(st.sampled_from([*SCORES, 0.3, -9.0, np.inf]), min_size=0, max_size=9).map(sorted)


@st.composite
def places(draw):
    """Draw places of one to three uncertainty bins."""
    ends = draw(st.sampled_from([[], [0.5], [0.5, 2.0]]))
    edges = draw(st.lists(EDGES, min_size=len(ends) + 1, max_size=len(ends) + 1))
    shortest = min(map(len, edges))
    column = draw(
        st.lists(
            st.integers(0, 3), min_size=(shortest + 1) * len(edges), max_size=(shortest + 1) * len(edges)
        )
    )
    return Places(
        uncertainty_edges=np.array(ends, dtype=np.float64),
        score_edges=np.array([values[:shortest] for values in edges], dtype=np.float64),
        column=np.array(column).reshape(len(edges), -1),
    )


def counted(records, unit_of, where):
    """Count the rows by unit, column and label by hand."""
    sums = np.zeros((max(unit_of.values()) + 1, where.columns, 2), dtype=np.int64)
    for record in records:
        if record["weight"]:
            row = sum(record["uncertainty"] >= edge for edge in where.uncertainty_edges)
            place = sum(record["score"] >= edge for edge in where.score_edges[row])
            sums[unit_of[record["day"]], where.column[row, place], record["label"]] += record["weight"]
    return sums


@pytest.mark.parametrize("weight", ["weight", None])
@EXAMPLES
@given(records=RECORDS, where=places(), units=st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_rows_are_counted_by_unit_as_by_hand(engine, tmp_path_factory, records, where, units, weight):
    roles = replace(
        ROLES,
        numbers={"score": "score", "uncertainty": "uncertainty"},
        amounts=(),
        cluster="day",
        weight=weight,
    )
    if weight is None:
        records = [{**record, "weight": 1} for record in records]
    inputs = write_inputs(frame(records), tmp_path_factory.mktemp("rows"), [len(records) // 2])
    table = engine.table(DataRequest(**inputs, roles=roles))
    for name in (None, *table.groups("region")):
        rows = [record for record in records if name in (None, record["region"])]
        part = table if name is None else table.only("region", name)
        days = sorted(part.groups("day"), key=lambda day: text_keys([day]).item())
        assert part.clusters("day").tolist() == text_keys(days).tolist()
        unit_of = dict(zip(days, units, strict=False))
        result = part.counted("day", np.array([unit_of[day] for day in days]), where)
        assert result.tolist() == counted(rows, unit_of, where).tolist()
