"""One exact number of each test of a shift: of rows, between days, and of each class."""

import numpy as np
import pytest

from tests.oracles.formulas import calibration as formulas
from uqcli.shift.estimators import no_shift_p_value
from uqcli.shift.mixture import UnitCounts, mixture_test, same_shares_between_units


def close(numbers):
    return pytest.approx(numbers, rel=1e-9)


def tables():
    """Return counts of (days, cells) of two classes and of new rows; days have any size."""
    random = np.random.default_rng(1)
    shares = [(0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4), (0.2, 0.28, 0.3, 0.22)]
    return [
        np.array([random.multinomial(n, p) for n in random.integers(10, 80, days)])
        for p, days in zip(shares, (16, 16, 13), strict=True)
    ]


def counts(*classes):
    table = np.array(classes)
    of_class, unit, cell = (index.ravel() for index in np.indices(table.shape))
    shape = table.shape[1], table.shape[0], table.shape[2]
    return UnitCounts(unit=unit, class_index=of_class, cell=cell, count=table.ravel(), shape=shape)


def test_no_shift_of_predicted_classes():
    found = no_shift_p_value(np.array([50.0, 30, 22]), np.array([40.0, 41, 9]))
    assert found == close(formulas.g_test_p([50, 30, 22], [40, 41, 9]))


def test_no_shift_of_two_rare_classes_is_tested_exactly():
    found = no_shift_p_value(np.array([50.0, 3]), np.array([20.0, 6]))
    assert found == close(formulas.fisher_p(3, 53, 6, 26))


def test_nearest_mixture():
    negative, positive, new = tables()
    classes = [table.sum(0).tolist() for table in (negative, positive)]
    found = mixture_test(counts(negative, positive), counts(new), by_unit=False)
    distance = formulas.mixture_distance(classes, new.sum(0).tolist())
    assert found.statistic == close(distance)
    # the covariance is estimated, from as many rows as the smallest class or file has
    freedom = min(sum(classes[0]), sum(classes[1]), int(new.sum())) - 1
    assert found.p_value == close(formulas.hotelling_p(distance, 2, freedom))


def test_nearest_mixture_between_days():
    negative, positive, new = tables()
    found = mixture_test(counts(negative, positive), counts(new), by_unit=True).p_value
    classes = [negative.tolist(), positive.tolist()]
    assert found == pytest.approx(formulas.mixture_by_unit_p(classes, new.tolist()), rel=1e-8)


def test_equal_shares_between_days():
    negative, _, new = tables()
    found = same_shares_between_units(counts(negative), counts(new)).p_value
    assert found == close(formulas.same_shares_p(negative.tolist(), new.tolist()))
