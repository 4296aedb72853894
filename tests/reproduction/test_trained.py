"""Tests of studies on trained models: data and models are seeded, and texts follow from numbers."""

from statistics import NormalDist

import numpy as np
import pytest

import uqcli
from reproduction import learned
from reproduction.learned import Rows
from reproduction.studies import example, heterogeneous, uci
from reproduction.studies.heterogeneous import CLUSTERS, PATTERNS, Run
from reproduction.study import Status
from reproduction.values import read

DATA = (PATTERNS, CLUSTERS, heterogeneous.SPHERE, heterogeneous.DIGITS, heterogeneous.CANCER)


@pytest.fixture(scope="module")
def few_rows():
    draws = np.random.default_rng(0)
    features = draws.normal(size=(200, 3)) * [1, 10, 0]
    return Rows(features=features, labels=(features[:, 0] + draws.normal(size=200) > 0).astype(np.int64))


@pytest.mark.parametrize("data", DATA, ids=lambda data: data.name)
def test_data_are_seeded_and_large_enough_for_their_split(data):
    first, repeated, other_seed = data.draw(1), data.draw(1), data.draw(2)
    assert np.array_equal(first.features, repeated.features)
    assert np.array_equal(first.labels, repeated.labels)
    assert not np.array_equal(first.features, other_seed.features)
    assert set(first.labels) == {0, 1}
    assert sum(data.split) <= len(first.labels) == len(first.features)


def test_log_odds_of_a_network_match_its_probabilities(few_rows, monkeypatch):
    from sklearn.neural_network import MLPClassifier

    fitted = []
    fit = MLPClassifier.fit

    def record_fit(model, features, labels):
        fitted.append((fit(model, features, labels), features))
        return model

    monkeypatch.setattr(learned, "EPOCHS", 3)
    monkeypatch.setattr(MLPClassifier, "fit", record_fit)
    log_odds = learned.network(few_rows, width=1, regularised=False, seed=0)(few_rows.features)
    model, features = fitted[0]
    assert np.allclose(1 / (1 + np.exp(-log_odds)), model.predict_proba(features)[:, 1], atol=1e-12)


@pytest.mark.thorough
def test_models_are_seeded(few_rows, monkeypatch):
    monkeypatch.setattr(learned, "EPOCHS", 3)
    for train in (lambda: learned.boosted(few_rows, 3), lambda: learned.network(few_rows, 1, True, 3)):
        assert np.array_equal(train()(few_rows.features), train()(few_rows.features))


@pytest.mark.thorough
def test_the_five_classifiers_give_probabilities(few_rows):
    train, new = learned.standardised_split(few_rows, seed=0, max_rows=200)
    assert (len(train.labels), len(new.labels)) == (140, 60)
    scores_by_classifier = learned.probabilities(train, new.features, seed=0)
    assert list(scores_by_classifier) == read()["trained"]["classifiers"]
    for scores in scores_by_classifier.values():
        assert scores.min() >= 0
        assert scores.max() <= 1


def test_the_example_has_its_best_weight_at_the_log_odds():
    assert example.expected_auc(0) == pytest.approx(NormalDist().cdf(2**-0.5))
    best = example.expected_auc(example.BEST_WEIGHT)
    assert best > max(example.expected_auc(example.BEST_WEIGHT + step) for step in (-0.2, 0.2))
    published = read()["heterogeneous"]["example"]
    assert round(example.expected_auc(published["learned"]), 2) == published["auc_learned"]
    assert round(example.expected_auc(published["better"]), 2) == published["auc_better"]


def test_the_auc_on_training_rows_by_integration_is_that_of_many_rows():
    from sklearn.metrics import roc_auc_score

    drawn = example._draw(200_000, training=True)
    for weight in (0.0, 1.1):
        score = drawn["score"] + weight * (drawn["feature"] - 0.5)
        auc = roc_auc_score(drawn["label"], score)
        assert example.training_auc(weight) == pytest.approx(auc, abs=0.002)
    assert example.training_auc(1.1) > max(example.training_auc(0.9), example.training_auc(1.8))


def test_scores_of_the_example_follow_the_paper():
    test_scores, training = (example._draw(200_000, is_training) for is_training in (False, True))
    for drawn in (test_scores, training):
        assert np.mean(drawn["feature"] == drawn["label"]) == pytest.approx(0.75, abs=0.005)
    centred = np.where(test_scores["label"] == 1, test_scores["score"] - 1, -1 - test_scores["score"])
    assert centred.std() == pytest.approx(2, abs=0.02)
    centred_training = np.where(training["label"] == 1, training["score"] - 1, -1 - training["score"])
    assert np.mean(centred_training < 0) == pytest.approx(1 / 3, abs=0.005)
    assert np.sqrt(np.mean(centred_training[centred_training < 0] ** 2)) == pytest.approx(1, abs=0.01)
    assert np.sqrt(np.mean(centred_training[centred_training > 0] ** 2)) == pytest.approx(2, abs=0.02)


def run_of(before, after, low, high):
    losses = {"loss_before": 0.7, "loss_after": 0.6, "loss_one_map": 0.65}
    errors = {"errors_before": (abs(after - 0.8), 0.1), "errors_after": (0.01, 0.02)}
    return Run(before=before, after=after, low=low, high=high, **losses, **errors)


def test_lifts_are_summarised_with_their_intervals():
    runs = [run_of(0.8, 0.84, 0.03, 0.05), run_of(0.8, 0.808, -0.01, 0.02), run_of(0.8, 0.792, -0.01, -0.002)]
    assert heterogeneous.mean_lift(runs) == "+1.67 ± 1.76 %"
    assert heterogeneous.mean_lift(runs[:1]) == "+5.00 %"
    assert heterogeneous.significant_intervals(runs) == (1, 1)
    assert heterogeneous.significant_intervals([run_of(0.8, 0.9, None, None)]) == (0, 0)


def test_trends_are_counted_in_the_papers_tables_and_in_ours():
    aucs_after = {
        "S": {"reg": 0.81, "unreg": 0.82},
        "M": {"reg": 0.82, "unreg": 0.81},
        "L": {"reg": 0.83, "unreg": 0.8},
    }
    runs = {
        (data.name, heterogeneous.NETWORKS[size, regularisation].name, "tree"): [
            run_of(0.8, after, 0.001, 0.02)
        ]
        * 2
        for data in (PATTERNS, CLUSTERS)
        for size, aucs_of_size in aucs_after.items()
        for regularisation, after in aucs_of_size.items()
    }
    sheet = heterogeneous._tables(runs, [PATTERNS, CLUSTERS], ["S", "M", "L"])
    assert "in 7 of the 10 lines of its Table 1, and in 2 of our 4" in sheet.text[-1]
    assert "They do in 12 of the 15 pairs of its Table 3, and in 2 of our 6" in sheet.text[-1]
    assert "in 4 of 6 settings without regularisation, 6 of 6 with it" in sheet.verdict
    assert len(sheet.rows) == 7
    assert {len(row) for row in sheet.rows} == {len(sheet.header)}
    run_sheet = heterogeneous._run_by_run(runs, [PATTERNS, CLUSTERS])
    assert (
        "without regularisation a lift in 8 of 12 runs, the interval above 0 in 12, below in 0"
        in run_sheet.verdict
    )
    assert "with it a lift in 12 of 12 runs" in run_sheet.verdict


def test_the_root_mean_square_weighs_large_errors_more():
    probability, label = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0, 1, 1, 1])
    absolute, root_mean_square = heterogeneous.calibration_errors(probability, label)
    assert absolute == pytest.approx((0.45 + 0.05) / 2)
    assert root_mean_square == pytest.approx(((0.45**2 + 0.05**2) / 2) ** 0.5)


def test_the_absolute_error_is_that_of_the_program():
    draws = np.random.default_rng(0)
    probability = draws.random(500)
    label = (draws.random(500) < probability).astype(np.int64)
    reported = uqcli.calibration_error(probability, label).metrics["ece"]
    assert heterogeneous.calibration_errors(probability, label)[0] == pytest.approx(reported)


def test_steadiness_is_the_deviation_over_learning_rates():
    by_rate = {
        (PATTERNS.name, rate): [run_of(before, after, None, None)]
        for rate, before, after in ((1e-4, 0.6, 0.8), (1e-3, 0.8, 0.82))
    }
    sheet = heterogeneous._steadiness(by_rate, [PATTERNS])
    assert sheet.status == Status.WITHIN_RANGE
    assert "0.141 before, 0.014 after" in sheet.verdict
    assert sheet.rows[0] == ["simple patterns, before", "0.6000", "0.8000", "0.1414"]


def test_a_lift_is_clear_above_two_standard_errors():
    assert heterogeneous.is_clear([run_of(0.8, after, None, None) for after in (0.82, 0.83, 0.84)])
    assert not heterogeneous.is_clear([run_of(0.8, after, None, None) for after in (0.79, 0.83, 0.84)])
    assert not heterogeneous.is_clear([run_of(0.8, 0.9, None, None)])


def test_discordant_pairs_and_monotone_values_are_recognised():
    assert uci.discordant_pairs([1, 2, 3], [1, 3, 2]) == 1
    assert uci.discordant_pairs([1, 2, 3], [3, 2, 1]) == 3
    assert uci.discordant_pairs([1, 1], [1, 2]) == 0
    assert uci.is_sorted([1, 1, 2])
    assert not uci.is_sorted([2, 1])
    assert heterogeneous.is_increasing([1, 2])
    assert not heterogeneous.is_increasing([1, 1])


def test_published_lifts_follow_from_published_aucs_except_one():
    published = read()["heterogeneous"]
    inconsistent = [
        (table, name, published["data"][index])
        for table in ("table1", "table3")
        for name, columns in published[table].items()
        for index, lift in enumerate(columns["lift"])
        if abs(100 * (columns["after"][index] / columns["before"][index] - 1) - lift) > 0.02
    ]
    assert inconsistent == [("table3", "M_reg", "Diabetes")]


def test_published_errors_of_classifiers_are_complete():
    trained = read()["trained"]
    assert len(trained["sets"]) == 10
    for table in trained["sets"].values():
        for name in trained["classifiers"]:
            assert len(table[name]) == len(table["columns"])
            for column, value in zip(table["columns"], table[name], strict=True):
                assert 0 < value < (100 if column.startswith("tce") else 1)
