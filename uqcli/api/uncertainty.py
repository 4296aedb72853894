"""Compute scores and uncertainties from model outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import cast

import numpy as np

from uqcli.api.arguments import present
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.jobs.tables import Column, by_name, is_frame, table_of
from uqcli.uncertainty.beta import Uncertainties
from uqcli.uncertainty.run import uncertainties, uncertainty_roles


def uncertainty_of(
    *,
    alpha1: Column | None = None,
    alpha0: Column | None = None,
    members: Sequence[Column] | Mapping[str, Column] | np.ndarray | None = None,
) -> Uncertainties:
    """Compute score and uncertainties from Beta parameters or from ensemble members [UB sec. 3]."""
    columns = present(alpha1=alpha1, alpha0=alpha0)
    if isinstance(members, np.ndarray) and members.ndim == 2:
        members = list(members.T)
    elif is_frame(members):
        members = list(by_name(cast("Mapping[str, Column]", members)).values())
    columns |= {f"member_{number}": member for number, member in enumerate(members or (), start=1)}
    roles = uncertainty_roles(
        alpha1=None if alpha1 is None else "alpha1",
        alpha0=None if alpha0 is None else "alpha0",
        members=None if members is None else "member_*",
    )
    data = DataRequest(inputs=(), frame=table_of(columns), roles=roles)
    batches = open_engine(data.engine).batches(data)
    parts = [uncertainties(rows, has_members=members is not None) for rows in batches]
    names = [field.name for field in fields(Uncertainties)]
    return Uncertainties(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
