"""Calibrators from Python: the same numbers and the same JSON as the command line."""

import numpy as np
import polars as pl
import pytest

from uqcli import CalibrationMethod, CalibrationOptions, Calibrator, Scale
from uqcli.cli.app import run
from uqcli.errors import DataError, UsageError


@pytest.fixture
def rows():
    random = np.random.default_rng(1)
    score = random.random(600)
    kind = random.choice(["x", "y"], 600)
    label = random.random(600) < np.where(kind == "x", score, score**3)
    return {"score": score, "uncertainty": random.random(600), "label": label.astype(int), "kind": kind}


@pytest.mark.parametrize("method", CalibrationMethod)
def test_the_command_writes_what_the_library_fits(rows, method, tmp_path):
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    arguments, features = ["--method", str(method)], None
    scale = Scale()
    if method is CalibrationMethod.HETEROGENEOUS:
        arguments += ["--features", "kind", "--min-leaf", "40"]
        features = {"kind": rows["kind"].tolist()}
    if method is CalibrationMethod.PRIOR:
        arguments, scale = ["--undersampled", "3"], Scale(undersampled=3.0)
    saved = str(tmp_path / "c.json")
    command = ["calibrate", str(tmp_path / "rows.parquet"), *arguments, "--bootstrap", "0", "-q", "-o", saved]
    assert run(command) == 0
    fitted = Calibrator.fit(
        rows["score"],
        rows["label"],
        options=CalibrationOptions(method=method, scale=scale, min_leaf=40),
        uncertainty=rows["uncertainty"],
        features=features,
    )
    loaded = Calibrator.load(saved)
    assert loaded.map == fitted.map
    fitted.save(str(tmp_path / "d.json"))
    assert (tmp_path / "d.json").read_bytes() == (tmp_path / "c.json").read_bytes()
    new = np.linspace(0, 1, 50)
    more = {"uncertainty": np.full(50, 0.3), "features": None if features is None else {"kind": ["x"] * 50}}
    np.testing.assert_array_equal(loaded.predict(new, **more), fitted.predict(new, **more))


def test_unusable_arrays(rows):
    with pytest.raises(DataError, match="between 0 and 1"):
        Calibrator.fit([1.5, 0.2], [0, 1])
    with pytest.raises(DataError, match="0 and 1 only"):
        Calibrator.fit([0.5, 0.2], [0, 2])
    with pytest.raises(UsageError, match="without uncertainty"):
        Calibrator.fit([0.5, 0.2], [0, 1], options=CalibrationOptions(method=CalibrationMethod.MIST))
    with pytest.raises(UsageError, match="without features"):
        Calibrator.fit([0.5, 0.2], [0, 1], options=CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS))
    fitted = Calibrator.fit(
        rows["score"],
        rows["label"],
        features={"kind": rows["kind"].tolist()},
        options=CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, min_leaf=40),
    )
    with pytest.raises(DataError, match="no feature 'kind'"):
        fitted.predict([0.5])
    assert 0 < fitted.predict([0.5], features={"kind": [1.0]})[0] < 1  # a text never seen
    numbers = CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, min_leaf=40)
    aged = Calibrator.fit(
        rows["score"], rows["label"], features={"age": rows["uncertainty"]}, options=numbers
    )
    with pytest.raises(DataError, match="holds texts"):
        aged.predict([0.5], features={"age": ["old"]})
    with pytest.raises(DataError, match="has 2 values"):
        fitted.predict([0.5], features={"kind": ["x", "y"]})
