"""Find the columns of a file by their usual names, and those that could be an uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from uqcli.base.defaults import UNCERTAINTY
from uqcli.base.records import dataclass
from uqcli.boundary.dependent_columns import dependent_columns
from uqcli.engines.columns import has_usual_name, is_index
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import positive_spellings
from uqcli.engines.proposals import proposal, with_options
from uqcli.engines.protocol import Columns
from uqcli.engines.request import SAMPLING_WEIGHT, DataRequest
from uqcli.overview.options import OverviewRequest


@dataclass(frozen=True, kw_only=True)
class FoundColumns:
    """Columns that were not named.

    Attributes
    ----------
    taken
        Options that were found, as typed ones would be.
    findings
        How the inputs are written, in words.
    proposed
        Columns of numbers that could be an uncertainty.
    dates, customers
        Columns whose equal values may mark dependent rows.
    negative
        Labels in the first rows that are not the positive one, if that is named.
    columns
        Number of columns of all inputs, of which the first ``MAX_LOOKED_AT`` and those named are looked at.
    """

    taken: Mapping[str, tuple[str, ...]]
    findings: tuple[str, ...]
    proposed: tuple[str, ...]
    dates: tuple[str, ...]
    customers: tuple[str, ...]
    negative: tuple[str, ...]
    columns: int

    @property
    def by_role(self) -> dict[str, str]:
        """The score and the label, if they have other names than the default."""
        return {role: self.taken[role][0] for role in ("score", "label") if role in self.taken}


def with_found_columns(request: OverviewRequest) -> tuple[OverviewRequest, FoundColumns]:
    """Take the score and the label by their usual names or their values, and read values as they are written.

    A column with the default name is taken before any other, also as the uncertainty. If several columns fit
    a role, none is taken. Rows without a value are not left out unasked.
    """
    data = request.data
    columns = open_engine(data.engine).columns(data)
    found = proposal(columns, data, request.named)
    taken = {
        option: values
        for option, values in found.options.items()
        if option not in found.others and option != "on_invalid"
    }
    data = with_options(data, taken)
    uncertainties = request.uncertainties
    if "uncertainty" not in request.named:
        uncertainties = (UNCERTAINTY,) if UNCERTAINTY in columns.names else ()
    data = replace(data, roles=replace(data.roles, numbers={"score": data.roles.numbers["score"]}))
    request = replace(request, data=data, uncertainties=uncertainties)
    keys = dependent_columns(request.data)
    content = FoundColumns(
        taken=taken,
        findings=found.findings,
        proposed=_proposed(request, columns, (*keys.dates, *keys.others)),
        dates=keys.dates,
        customers=keys.others,
        negative=_negative(data, columns.texts.get(data.roles.label or "", ())),
        columns=len(columns.names),
    )
    return request, content


def with_found_label(request: OverviewRequest) -> OverviewRequest:
    """Take the label as ``with_found_columns`` does, and read the values as they are written."""
    columns = open_engine(request.data.engine).columns(request.data)
    found = proposal(columns, request.data, {*request.named, "score"})
    taken = {
        option: values
        for option, values in found.options.items()
        if option not in found.others and option != "on_invalid"
    }
    return replace(request, data=with_options(request.data, taken))


def _negative(data: DataRequest, labels: Sequence[str]) -> tuple[str, ...]:
    if data.positive_value is None:
        return ()
    spellings, ignores_case = positive_spellings(data.positive_value)
    others = (label for label in labels if label not in data.read.null_values)
    return tuple(label for label in others if (label.lower() if ignores_case else label) not in spellings)


def _proposed(request: OverviewRequest, columns: Columns, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of numbers without another meaning."""
    roles, data = request.data.roles, request.data
    used = {*roles.numbers.values(), roles.label, roles.weight, *request.uncertainties, *request.audit, *keys}
    used |= {data.labels.on} if data.labels is not None else set()
    used |= {SAMPLING_WEIGHT, *(name for name in columns.names if has_usual_name(name))}
    marks = {name: form.decimal for name, form in columns.forms.items()}
    return tuple(
        name
        for name in columns.numeric
        if name not in used
        and marks.get(name, "") in ("", data.read.decimal)
        and not is_index(name)
        and name.casefold() != "id"
        and not name.casefold().endswith("_id")
    )
