"""Find the columns of a file by their usual names, and those that could be an uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.base.defaults import UNCERTAINTY
from uqcli.base.records import dataclass
from uqcli.boundary.dependent_columns import dependent_columns
from uqcli.engines.columns import usually_named
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import positive_spellings
from uqcli.engines.protocol import Columns
from uqcli.engines.request import SAMPLING_WEIGHT
from uqcli.overview.options import OverviewRequest


@dataclass(frozen=True, kw_only=True)
class FoundColumns:
    """Columns that were not named.

    Attributes
    ----------
    by_role
        Those found by a usual name other than the default.
    proposed
        Columns of numbers that could be an uncertainty.
    dates, customers
        Columns whose equal values may mark dependent rows.
    negative
        Labels in the first rows that are not the positive one, if that is named.
    columns
        Number of columns of all inputs, of which the first ``MAX_LOOKED_AT`` and those named are looked at.
    """

    by_role: dict[str, str]
    proposed: tuple[str, ...]
    dates: tuple[str, ...]
    customers: tuple[str, ...]
    negative: tuple[str, ...]
    columns: int


def with_found_columns(request: OverviewRequest) -> tuple[OverviewRequest, FoundColumns]:
    """Take the score and the label by their usual names, if exactly one column of the file has one.

    A column with the default name is taken before any other, also as the uncertainty.
    """
    data = request.data
    columns = open_engine(data.engine).columns(data)
    by_role = _usual_columns(request, columns, ("score", "label"))
    roles = replace(
        data.roles,
        numbers={"score": by_role.get("score", data.roles.numbers["score"])},
        label=by_role.get("label", data.roles.label),
    )
    uncertainties = request.uncertainties
    if "uncertainty" not in request.named:
        uncertainties = (UNCERTAINTY,) if UNCERTAINTY in columns.names else ()
    request = replace(request, data=replace(data, roles=roles), uncertainties=uncertainties)
    keys = dependent_columns(request.data)
    found = FoundColumns(
        by_role=by_role,
        proposed=_proposed(request, columns, (*keys.dates, *keys.others)),
        dates=keys.dates,
        customers=keys.others,
        negative=_negative(data.positive_value, columns.texts.get(roles.label or "", ())),
        columns=len(columns.names),
    )
    return request, found


def with_found_label(request: OverviewRequest) -> OverviewRequest:
    """Take the label by its usual name, if exactly one column of the file has one."""
    columns = open_engine(request.data.engine).columns(request.data)
    label = _usual_columns(request, columns, ("label",)).get("label", request.data.roles.label)
    return replace(request, data=replace(request.data, roles=replace(request.data.roles, label=label)))


def _usual_columns(request: OverviewRequest, columns: Columns, roles: Sequence[str]) -> dict[str, str]:
    """Return the columns with a usual name of roles that were not named and have no column of their own."""
    usual = {}
    for role in roles:
        is_elsewhere = role == "label" and request.data.labels is not None
        fitting = usually_named(columns.names, role)
        if role not in {*request.named, *columns.names} and not is_elsewhere and len(fitting) == 1:
            usual[role] = fitting[0]
    return usual


def _negative(positive: str | None, labels: Sequence[str]) -> tuple[str, ...]:
    if positive is None:
        return ()
    spellings, ignores_case = positive_spellings(positive)
    return tuple(label for label in labels if (label.lower() if ignores_case else label) not in spellings)


def _proposed(request: OverviewRequest, columns: Columns, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of numbers without another meaning."""
    roles, data = request.data.roles, request.data
    used = {*roles.numbers.values(), roles.label, roles.weight, *request.uncertainties, *request.audit, *keys}
    used |= {data.labels.on} if data.labels is not None else set()
    used |= {*usually_named(columns.names, "score"), *usually_named(columns.names, "label"), SAMPLING_WEIGHT}
    return tuple(
        name
        for name in columns.numeric
        if name not in used and name.casefold() != "id" and not name.casefold().endswith("_id")
    )
