"""Tests of small linear systems, against LAPACK."""

import numpy as np
import pytest

from uqcli.kernels import linear
from uqcli.kernels.linear import extreme_singular_values, is_positive_definite, least_solution, solved


@pytest.mark.parametrize("size", [1, 2, 3, 5, 17, 60])
def test_random_systems_are_solved_as_by_lapack(size):
    random = np.random.default_rng(size)
    for _ in range(20):
        matrix, right = random.normal(size=(size, size)), random.normal(size=size)
        np.testing.assert_allclose(
            solved(matrix, right), np.linalg.solve(matrix, right), rtol=1e-6, atol=1e-9
        )
        singular_values = np.linalg.svd(matrix, compute_uv=False)
        extremes = extreme_singular_values(matrix)
        np.testing.assert_allclose(
            extremes, singular_values[[-1, 0]], rtol=1e-9, atol=1e-13 * singular_values[0]
        )
        square = matrix @ matrix.T
        smallest_eigenvalue = float(np.linalg.eigvalsh(square)[0])
        assert is_positive_definite(square)
        assert not is_positive_definite(square - (1.01 * smallest_eigenvalue + 1e-9) * np.eye(size))


def test_few_unknowns_are_solved_with_the_bits_of_arrays(monkeypatch):
    random = np.random.default_rng(0)
    systems = [(random.normal(size=(size, size)), random.normal(size=size)) for size in range(1, 9)] * 5
    by_lists = [solved(*system).tobytes() for system in systems]
    monkeypatch.setattr(linear, "_FEW", 0)
    assert [solved(*system).tobytes() for system in systems] == by_lists


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_singular_systems_have_the_shortest_solution(size):
    random = np.random.default_rng(size)
    for rank in range(1, size + 1):
        factor = random.normal(size=(size, rank))
        matrix, right = factor @ factor.T, random.normal(size=size)
        expected = np.linalg.pinv(matrix, rcond=1e-12) @ right
        np.testing.assert_allclose(least_solution(matrix, right), expected, rtol=1e-6, atol=1e-9)


def test_unsolvable_systems_are_recognised():
    assert not np.isfinite(solved(np.ones((2, 2)), np.array([1.0, 2.0]))).all()
    assert not is_positive_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not is_positive_definite(np.full((2, 2), np.nan))
    smallest, largest = extreme_singular_values(np.ones((3, 3)))
    assert smallest < 1e-15
    assert largest == pytest.approx(3)
    assert extreme_singular_values(np.zeros((2, 2))) == (0.0, 0.0)
    assert extreme_singular_values(np.array([[-2.0]])) == (pytest.approx(2), pytest.approx(2))
    tiny, huge = extreme_singular_values(np.diag([1e-200, 1.0, 1e200]))
    assert (tiny, huge) == (pytest.approx(0, abs=1e185), pytest.approx(1e200))
