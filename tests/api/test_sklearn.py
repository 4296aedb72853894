"""Tests of the estimators for scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import uqcli
from tests.calibrate.test_classes import draw_rows
from uqcli.sklearn import BoundaryClassifier, CalibratedScores

NOT_FOR_SCORES = {"check_classifiers_train": "it expects accuracy from features; X holds scores of the class"}
NOT_CHECKED = {"check_array_api_input": "it needs SCIPY_ARRAY_API set before scipy is imported"}


@pytest.fixture
def fast_calibrators(monkeypatch):
    """Fit the calibrators behind boundaries by Platt's method, since choosing one takes most of the time."""
    fit = uqcli.Calibrator.fit
    monkeypatch.setattr(
        uqcli.Calibrator, "fit", lambda *rows, **options: fit(*rows, **{"method": "platt", **options})
    )


@pytest.mark.covering("thorough", every=2)
@pytest.mark.usefixtures("fast_calibrators")
@pytest.mark.parametrize(
    "estimator",
    [CalibratedScores("platt", logit=True), BoundaryClassifier(precision=0.5, algorithm="st")],
    ids=repr,
)
def test_estimators_keep_the_rules_of_scikit_learn(estimator):
    assert_checked(estimator)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "estimator", [CalibratedScores(logit=True), BoundaryClassifier(precision=0.5)], ids=repr
)
def test_default_estimators_keep_the_rules_of_scikit_learn(estimator):
    assert_checked(estimator)


def assert_checked(estimator):
    results = check_estimator(
        estimator, on_fail=None, on_skip=None, expected_failed_checks=dict.fromkeys(NOT_FOR_SCORES, "scores")
    )
    assert len(results) > 50
    by_status = {
        status: {result["check_name"] for result in results if result["status"] == status}
        for status in ("failed", "xfail", "skipped")
    }
    assert by_status["failed"] == set()
    assert by_status["xfail"] == set(NOT_FOR_SCORES)
    assert by_status["skipped"] <= set(NOT_CHECKED)


@pytest.fixture
def rows():
    random = np.random.default_rng(3)
    score = random.random(4000)
    uncertainty = random.random(4000)
    label = random.random(4000) < score ** (1 + uncertainty)
    return np.column_stack([score, uncertainty]), np.where(label, "yes", "no")


@pytest.mark.thorough
def test_decisions_and_probabilities_are_those_of_the_functions(rows):
    table, label = rows
    model = BoundaryClassifier(precision="0.8", uncertainty_column=1).fit(table, label)
    found = uqcli.find_boundary(table[:, 0], label == "yes", uncertainty=table[:, 1], precision="0.8")
    assert model.boundary_.artifact == found.artifact
    flagged = model.predict(table) == "yes"
    assert (flagged == found.decide(table[:, 0], table[:, 1])).all()
    assert ((model.decision_function(table) > 0) == flagged).all()
    calibrated = CalibratedScores().fit(table, label)
    expected = uqcli.Calibrator.fit(table[:, 0], label == "yes").predict(table[:, 0])
    np.testing.assert_array_equal(calibrated.predict_proba(table)[:, 1], expected)
    np.testing.assert_array_equal(model.predict_proba(table)[:, 1], expected)
    by_uncertainty = CalibratedScores("mist", uncertainty_column=1).fit(table, label)
    assert by_uncertainty.predict_proba(table).shape == (4000, 2)


def test_a_threshold_itself_is_flagged_and_no_threshold_is_minus_infinity(rows):
    table, label = rows
    model = BoundaryClassifier(precision="0.8", algorithm="gmt", uncertainty_column=1).fit(table, label)
    thresholds, edges = model.boundary_.thresholds, model.boundary_.uncertainty_edges
    inside = [edges[0] - 0.1, (edges[0] + edges[1]) / 2, edges[1] + 0.1]
    at = [(1.0 if value is None else value, u) for value, u in zip(thresholds, inside, strict=True)]
    decided = model.decision_function(at)
    assert ((decided > 0) == [value is not None for value in thresholds]).all()
    assert ((decided == -np.inf) == [value is None for value in thresholds]).all()


@pytest.mark.thorough
def test_columns_have_names_in_data_frames(rows):
    table, label = rows
    frame = pl.DataFrame({"u": table[:, 1], "p": table[:, 0]})
    model = BoundaryClassifier(precision=0.8, score_column="p", uncertainty_column="u").fit(frame, label)
    plain = BoundaryClassifier(precision=0.8, uncertainty_column=1).fit(table, label)
    assert (model.predict(frame) == plain.predict(table)).all()
    with pytest.raises(ValueError, match="no column 'q' in X; expected one of u, p"):
        CalibratedScores(score_column="q").fit(frame, label)
    with pytest.raises(ValueError, match="column 2 of X; expected one of its 2 columns"):
        CalibratedScores(score_column=2).fit(table, label)


def test_many_classes_have_a_column_each():
    probability, index, _ = draw_rows(11, 3000, 3, power=2.0)
    label = np.array(["cat", "dog", "emu"])[index]
    model = CalibratedScores("vector").fit(probability, label)
    calibrated = model.predict_proba(probability)
    assert calibrated.sum(axis=1) == pytest.approx(1)
    assert (model.predict(probability) == np.array(["cat", "dog", "emu"])[calibrated.argmax(axis=1)]).all()
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        BoundaryClassifier(precision=0.8).fit(probability, label)


@pytest.mark.thorough
@pytest.mark.usefixtures("fast_calibrators")
def test_estimators_work_in_pipelines_searches_and_cross_validation(rows):
    table, label = (column[:1000] for column in rows)
    scores = cross_val_score(CalibratedScores("platt"), table[:, :1], label, scoring="neg_log_loss")
    assert (scores > -0.7).all()
    model = BoundaryClassifier(precision=0.7, uncertainty_column=1, uncertainty_bins=2)
    assert (cross_val_score(model, table, label, scoring="roc_auc") > 0.5).all()
    grid = GridSearchCV(model, {"precision": [0.6, 0.9]}, scoring="accuracy").fit(table, label)
    assert grid.best_params_["precision"] in {0.6, 0.9}
    pipeline = make_pipeline(FunctionTransformer(lambda values: values[:, ::-1]), clone(model))
    pipeline.set_params(boundaryclassifier__score_column=1, boundaryclassifier__uncertainty_column=0)
    assert (pipeline.fit(table, label).predict(table) == clone(model).fit(table, label).predict(table)).all()


@pytest.mark.thorough
def test_a_model_and_its_boundary_are_one_pipeline():
    random = np.random.default_rng(8)
    features = random.normal(size=(3000, 2))
    label = (random.random(3000) < 1 / (1 + np.exp(-2 * features[:, 0]))).astype(int)
    scores = cross_val_predict(LogisticRegression(), features, label, method="predict_proba")[:, 1:]
    decided = BoundaryClassifier(precision="0.8").fit(scores, label)
    assert 0.1 < recall_score(label, decided.predict(scores)) < 0.9
    union = Pipeline([("same", FeatureUnion([("p", "passthrough")])), ("calibrated", CalibratedScores())])
    assert union.fit(scores, label).predict_proba(scores).shape == (3000, 2)


def test_weights_are_copies_and_bad_values_are_value_errors(rows):
    table, label = rows
    weight = np.arange(len(label)) % 3
    weighted = CalibratedScores("platt").fit(table, label, sample_weight=weight)
    copied = CalibratedScores("platt").fit(np.repeat(table, weight, axis=0), np.repeat(label, weight))
    np.testing.assert_array_equal(weighted.predict_proba(table), copied.predict_proba(table))
    with pytest.raises(ValueError, match="expected whole numbers"):
        CalibratedScores().fit(table, label, sample_weight=weight + 0.5)
    with pytest.raises(ValueError, match="method 'none'"):
        CalibratedScores("none").fit(table, label)
    with pytest.raises(ValueError, match="between 0 and 1"):
        CalibratedScores().fit(table * 3, label)
    with pytest.raises(uqcli.InfeasibleError):
        BoundaryClassifier(precision=1.0).fit(np.zeros((4, 1)), [0, 1, 0, 1])


WRAPPERS = [
    CalibratedScores("temperature", estimator=LogisticRegression(), cv=3),
    CalibratedScores("platt", estimator=LinearSVC(), cv=3),
    BoundaryClassifier(precision=0.5, algorithm="st", estimator=LogisticRegression(), cv=3),
]


@pytest.mark.thorough
@pytest.mark.usefixtures("fast_calibrators")
@pytest.mark.parametrize("estimator", WRAPPERS, ids=repr)
def test_wrappers_of_a_classifier_keep_the_rules_of_scikit_learn(estimator):
    at_odds = {"check_classifiers_train": "a decision is no comparison of a probability with one half"}
    expected = at_odds if isinstance(estimator, BoundaryClassifier) else {}
    results = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=expected)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set()
    assert len(results) > 50


@pytest.fixture
def features():
    random = np.random.default_rng(4)
    table = random.normal(size=(1200, 3))
    return table, (random.random(1200) < 1 / (1 + np.exp(-2 * table[:, 0] - table[:, 1]))).astype(int)


def test_a_frozen_classifier_is_taken_as_it_is(features):
    table, label = features
    model = LogisticRegression().fit(table[:400], label[:400])
    rest, rest_label = table[400:], label[400:]
    score = model.predict_proba(rest)[:, 1]
    wrapped = BoundaryClassifier(precision=0.8, estimator=FrozenEstimator(model)).fit(rest, rest_label)
    assert wrapped.boundary_.artifact == uqcli.find_boundary(score, rest_label, precision=0.8).artifact
    assert (wrapped.predict(rest) == wrapped.boundary_.decide(score)).all()
    calibrated = CalibratedScores("beta", estimator=FrozenEstimator(model)).fit(rest, rest_label)
    expected = uqcli.Calibrator.fit(score, rest_label, method="beta").predict(score)
    np.testing.assert_array_equal(calibrated.predict_proba(rest)[:, 1], expected)
    with pytest.raises(ValueError, match="other classes"):
        CalibratedScores(estimator=FrozenEstimator(model)).fit(rest, rest_label + 1)


def test_another_classifier_is_fitted_to_all_rows_and_its_rule_to_rows_left_out(features):
    table, label = features
    wrapped = BoundaryClassifier(recall=0.7, estimator=LogisticRegression(), cv=4).fit(table, label)
    left_out = cross_val_predict(LogisticRegression(), table, label, cv=4, method="predict_proba")[:, 1]
    assert wrapped.boundary_.artifact == uqcli.find_boundary(left_out, label, recall=0.7).artifact
    of_all = LogisticRegression().fit(table, label).predict_proba(table)[:, 1]
    assert (wrapped.predict(table) == wrapped.boundary_.decide(of_all)).all()


def test_a_wrapper_takes_data_frames_weights_and_an_uncertainty(features):
    table, label = features
    frame = pd.DataFrame(table, columns=["a", "b", "spread"]).assign(kind=np.where(table[:, 2] > 0, "x", "y"))
    encode = ColumnTransformer([("kind", OneHotEncoder(), ["kind"])], remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression())
    wrapped = BoundaryClassifier(precision=0.7, estimator=model, uncertainty_column="spread")
    weight = np.arange(len(label)) % 3
    wrapped.fit(frame, label, sample_weight=weight)
    assert wrapped.boundary_.artifact.source.rows == len(label)
    assert set(wrapped.predict(frame)) == {0, 1}
    assert list(wrapped.feature_names_in_) == list(frame.columns)


@pytest.mark.thorough
def test_a_search_reaches_the_classifier(features):
    table, label = features
    search = GridSearchCV(
        BoundaryClassifier(precision=0.6, algorithm="st", estimator=LogisticRegression(), cv=3),
        {"estimator__C": [0.01, 1.0], "precision": [0.6, 0.7]},
        scoring="recall",
        cv=2,
    )
    assert search.fit(table, label).best_params_["precision"] == 0.6
    assert search.best_params_["estimator__C"] == clone(search.best_estimator_).estimator.C


def test_a_wrapper_calibrates_many_classes():
    probability, index, _ = draw_rows(12, 900, 3, power=2.0)
    label = np.array(["cat", "dog", "emu"])[index]
    model = CalibratedScores("vector", estimator=LogisticRegression(), cv=3)
    calibrated = model.fit(probability, label).predict_proba(probability)
    assert calibrated.shape == (900, 3)
    assert calibrated.sum(axis=1) == pytest.approx(1)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        CalibratedScores(estimator=LinearSVC(), cv=3).fit(probability, label)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        CalibratedScores("platt", estimator=LogisticRegression(), cv=3).fit(probability, label)


def test_scores_beyond_those_of_probabilities_have_the_probability_of_the_end():
    random = np.random.default_rng(6)
    score = random.random(400)
    boundary = BoundaryClassifier(precision=0.6).fit(score[:, None], random.random(400) < score)
    ends = boundary.predict_proba(np.array([[0.0], [1.0], [-0.2], [1.5]]))[:, 1]
    assert (ends[2], ends[3]) == (ends[0], ends[1])
    assert boundary.predict(np.array([[1.5], [-0.2]])).tolist() == [True, False]
