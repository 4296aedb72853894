"""Scores and uncertainties from what a model gives."""

from __future__ import annotations

from collections.abc import Sequence

from uqcli.api.columns import Column, table_of
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.jobs.stream.uncertainty import of_rows, roles_of
from uqcli.methods.stream.beta import Uncertainties


def uncertainty_of(
    *,
    alpha1: Column | None = None,
    alpha0: Column | None = None,
    members: Sequence[Column] | None = None,
) -> Uncertainties:
    """Score and uncertainties from Beta parameters, or from the members of an ensemble [UB sec. 3].

    The same work as ``uqcli uncertainty``.

    Parameters
    ----------
    alpha1, alpha0 : positive numbers, shape (n,)
        Parameters of the positive and of the negative class.
    members : at least two columns of probabilities, shape (n,) each
        Instead.

    Raises
    ------
    UsageError, DataError
        Not exactly one of both is given, or a value is out of range.

    Examples
    --------
    >>> uncertainty_of(alpha1=[3.0], alpha0=[1.0]).score.tolist()
    [0.75]
    """
    columns: dict[str, Column] = (
        {} if members is None else {f"m_{at}": each for at, each in enumerate(members)}
    )
    beta = {name: value for name, value in (("alpha1", alpha1), ("alpha0", alpha0)) if value is not None}
    roles = roles_of(
        alpha1="alpha1" if "alpha1" in beta else None,
        alpha0="alpha0" if "alpha0" in beta else None,
        members=None if members is None else ",".join(columns),
    )
    frame = table_of({**columns, **beta})
    data = DataRequest(inputs=(), frame=frame, roles=roles)
    parts = [of_rows(rows, members=members is not None) for rows in open_engine(data.engine).batches(data)]
    return Uncertainties.joined(parts)
