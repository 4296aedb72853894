"""Contract tests of rows drawn with unequal probabilities: both engines caution that they count alike."""

import polars as pl
import pytest

from tests.engines.test_tables import write_inputs
from uqcli.base.choices import EngineName, OnInvalid
from uqcli.base.running import messages
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import ALL_ROWS
from uqcli.engines.request import DataRequest, Roles

ROLES = Roles(numbers={"score": "score"}, label="label")


def cautions(engine, inputs, roles=ROLES):
    """Return the cautions of reading the rows."""
    messages.clear()
    request = DataRequest(inputs=inputs, roles=roles, on_invalid=OnInvalid.DROP, takes_weights=True)
    open_engine(engine).table(request).pooled(ALL_ROWS)
    return messages.cautions()


@pytest.mark.parametrize("engine", list(EngineName))
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_different_weights_that_are_not_read_are_a_caution(tmp_path, engine, ending):
    frame = pl.DataFrame({"score": [0.1, 0.4, 0.8, 0.9], "label": [0, 1, 0, 1]})
    differing = frame.with_columns(sampling_weight=pl.Series([5.5, 5.5, 12.0, 5.5]))
    inputs = write_inputs(differing, tmp_path, (2,), ending)["inputs"]
    (sentence,) = cautions(engine, inputs)
    assert "add --sampling-weight sampling_weight, or the results are those of the drawn rows" in sentence
    assert not cautions(
        engine, inputs, Roles(numbers={**ROLES.numbers, "w": "sampling_weight"}, label="label")
    )
    assert not cautions(engine, inputs, Roles(numbers=ROLES.numbers))


@pytest.mark.parametrize("engine", list(EngineName))
def test_equal_weights_of_labelled_rows_need_no_caution(tmp_path, engine):
    frame = pl.DataFrame({"score": [0.1, 0.4, 0.8], "label": [0, 1, None], "sampling_weight": [5.5, 5.5, 7]})
    (sentence,) = cautions(engine, write_inputs(frame, tmp_path)["inputs"])
    assert "1 row has no label" in sentence
