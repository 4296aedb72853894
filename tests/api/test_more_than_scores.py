"""Tests of the library where the command line has long been ahead: classes, several columns, figures."""

import numpy as np
import polars as pl
import pytest

import uqcli
from tests.calibrate.test_classes import draw_rows
from uqcli.cli.app import run


@pytest.fixture
def rows():
    random = np.random.default_rng(3)
    columns = {name: random.random(3000) for name in ("score", "spread", "noise")}
    columns["label"] = (random.random(3000) < columns["score"] ** (1 + 3 * columns["spread"])).astype(int)
    return pl.DataFrame(columns)


@pytest.mark.thorough
def test_several_uncertainties_are_compared_and_the_best_is_used(rows, tmp_path):
    both = rows.select("spread", "noise")
    found = uqcli.find_boundary(rows["score"], rows["label"], uncertainty=both, precision="0.7")
    assert found.artifact.source.columns["uncertainty"] == "spread"
    assert set(found.comparisons) == {"spread", "noise"}
    assert found.compared.verdict == "helps"
    assert found.comparisons["noise"].verdict == "no evidence"
    by_name = found.decide(rows["score"], both)
    assert (by_name == found.decide(rows["score"], rows["spread"])).all()
    rows.write_parquet(tmp_path / "rows.parquet")
    line = ("--uncertainty", "spread,noise", "--compare", "--precision", "0.7", "-q", "-o")
    assert run(["boundary", str(tmp_path / "rows.parquet"), *line, str(tmp_path / "b.json")]) == 0
    assert uqcli.load(str(tmp_path / "b.json")).artifact.thresholds == found.artifact.thresholds


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["figure.png", "figure.svg"])
def test_results_write_their_figures(rows, tmp_path, name):
    score, label = rows["score"], rows["label"]
    boundary = uqcli.find_boundary(score, label, uncertainty=rows["spread"], precision="0.7")
    results = [
        boundary,
        boundary.evaluate(score, label, uncertainty=rows["spread"]),
        uqcli.Calibrator.fit(score, label, method="all"),
        uqcli.Calibrator.fit(score, label).evaluate(score, label),
        uqcli.calibration_error(score, label),
        uqcli.shift_weights(score, label, score[:500]),
    ]
    for number, result in enumerate(results):
        path = tmp_path / f"{number}{name}"
        result.plot(path)
        assert path.read_bytes()[:4] in {b"\x89PNG", b"<?xm", b"<svg"}
    boundary.save(tmp_path / "b.json")
    loaded = uqcli.load(tmp_path / "b.json")
    with pytest.raises(uqcli.UsageError, match="a loaded rule has no figure"):
        loaded.plot(tmp_path / name)


@pytest.mark.thorough
def test_class_probabilities_are_calibrated_with_intervals(tmp_path):
    probability, label, weight = draw_rows(11, 3000, 3, power=2.0)
    names = np.array(list("abc"))
    for method in ("auto", "venn-abers", "all"):
        fitted = uqcli.Calibrator.fit(
            probability, names[label], method=method, weight=weight, classes=list("abc")
        )
        calibrated = fitted.predict(probability)
        assert calibrated.sum(axis=1) == pytest.approx(1)
        metrics = fitted.evaluate(probability, names[label]).metrics
        expected = -np.log(calibrated[np.arange(3000), label]).mean()
        assert metrics["after"]["log_loss"] == pytest.approx(expected)
    venn_abers = uqcli.Calibrator.fit(probability, label, method="venn-abers")
    low, high = venn_abers.interval(probability)
    assert low.shape == high.shape == (3000, 3)
    assert (low < high).all()
    with pytest.raises(uqcli.UsageError, match="expected method venn-abers"):
        uqcli.Calibrator.fit(probability, label, method="vector").interval(probability)
    with pytest.raises(uqcli.UsageError, match="beside class probabilities"):
        uqcli.Calibrator.fit(probability, label, uncertainty=label)


def test_a_score_has_an_interval():
    random = np.random.default_rng(5)
    score = random.random(2000)
    fitted = uqcli.Calibrator.fit(score, random.random(2000) < score, method="venn-abers")
    low, high = fitted.interval([0.2, 0.8])
    middle = fitted.predict([0.2, 0.8])
    assert (low < middle).all()
    assert (middle < high).all()


def test_errors_name_keywords(rows):
    with pytest.raises(uqcli.UsageError, match=r"^method vector without proba;"):
        uqcli.Calibrator.fit(rows["score"], rows["label"], method="vector")
    with pytest.raises(uqcli.DataError, match=r"leave them out with on_invalid drop$"):
        uqcli.Calibrator.fit([0.1, np.nan], [0, 1])
    with pytest.raises(uqcli.UqcliError) as error:
        uqcli.find_boundary(rows["score"], rows["label"], precision="0.7", certify="0.1", shift="none.json")
    assert "--" not in str(error.value)
