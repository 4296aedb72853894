"""``uqcli uncertainty``: add score and uncertainty columns computed from model outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Final

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import rows_of
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.reports.document import Document, Metrics, OneResult, Table, head_of
from uqcli.rules.result import Result, WrittenRows, stream
from uqcli.uncertainty.beta import Uncertainties, from_beta, from_members
from uqcli.uncertainty.options import UncertaintyRequest

_MIN_ALPHA = 1e-100
_NAMES = {
    "score": "score",
    "uncertainty": "beta_entropy",
    "uncertainty_std": "std",
    "uncertainty_entropy": "entropy",
    "uncertainty_mutual_information": "mutual_information",
}
"""Attributes of the uncertainties by the names of the added columns."""

_MEANINGS: Final = (
    "the predicted probability of a positive",
    "entropy of the probability's Beta distribution, nats",
    "standard deviation of the probability",
    "entropy of the label, nats: high near 0.5",
    "how much knowing the probability would reduce that entropy, nats",
)
"""Meanings of the added columns, in order; except the score, higher is less certain."""


@dataclass(frozen=True, kw_only=True)
class UncertaintyReport(OneResult):
    """Rows written with a score and its uncertainties, and the columns that these are from, in words."""

    command: ClassVar = "uncertainty"

    source: WrittenRows
    columns: list[str]
    added_from: str
    on_invalid: str
    undecided: int

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return {"rows": self.source.rows, "undecided": self.undecided}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        parameters = {"kind": None, "columns": self.columns, "on_invalid": self.on_invalid}
        return {**head_of(self.command, self.source, parameters), "metrics": dict(self.metrics), "notes": []}

    def document(self) -> Document:
        """Return the readable form."""
        cautions = list[Notice]()
        if self.undecided:
            cautions.append(
                Notice("undecided-rows", f"{rows_of(self.undecided)} undecided: a value is missing.")
            )
        meanings = list(zip(self.columns, _MEANINGS, strict=True))
        return Document(
            title=f"Added a score and its uncertainties to {rows_of(self.source.rows)}.",
            tables=[Table(title="", header=("column", "meaning"), rows=meanings, left=2)],
            cautions=cautions,
            notes=[f"Columns added: {', '.join(self.columns)}.", f"Made from {self.added_from}."],
            next="boundary {rule} --precision 0.9 --compare",
        )


def run(request: UncertaintyRequest) -> Result[UncertaintyReport, None]:
    """Add score and uncertainties to every row of the inputs."""
    roles = uncertainty_roles(alpha1=request.alpha1, alpha0=request.alpha0, members=request.members)
    names = {f"{request.output.prefix}{name}": attribute for name, attribute in _NAMES.items()}

    def compute(rows: Rows) -> dict[str, Bools | Ints | Floats]:
        computed = uncertainties(rows, has_members=request.members is not None)
        return {name: getattr(computed, attribute) for name, attribute in names.items()}

    added = AddedColumns(types=dict.fromkeys(names, "float64"), compute=compute)
    summary = stream(replace(request.data, roles=roles), added, request.output)
    columns = roles.column_by_role() if roles.pattern is None else {"members": roles.pattern}
    report = UncertaintyReport(
        added_from=_column_source(request),
        source=WrittenRows(rows=summary.rows, dropped=summary.dropped, columns=columns),
        columns=list(names),
        on_invalid=request.data.on_invalid,
        undecided=summary.undecided,
    )
    return Result(report=report, artifact=None)


def _column_source(request: UncertaintyRequest) -> str:
    if request.members is not None:
        return f"the members '{request.members}', which give a Beta distribution of their mean and variance"
    return f"the Beta distribution of '{request.alpha1}' and '{request.alpha0}'"


def uncertainty_roles(*, alpha1: str | None, alpha0: str | None, members: str | None) -> Roles:
    """Return the columns of the Beta parameters or the ensemble members; one of the two is given."""
    if (alpha1 is None) != (alpha0 is None) or (alpha1 is None) == (members is None):
        raise UsageError(
            "the Beta parameters or the members must be given, and not both",
            expected=words("--alpha1 COL and --alpha0 COL, or --members 'PATTERN'"),
        )
    if members is not None:
        return Roles(numbers={}, pattern=members)
    if alpha1 == alpha0:
        raise UsageError(
            words("--alpha1 and --alpha0 both name the column '{}'", alpha1), expected="different columns"
        )
    return Roles(numbers={"alpha1": alpha1 or "", "alpha0": alpha0 or ""})


def uncertainties(rows: Rows, *, has_members: bool) -> Uncertainties:
    """Compute score and uncertainties of checked rows; refuse values out of range."""
    if has_members:
        members = _usable(rows, 0, 1, "member '{}'", "probabilities between 0 and 1")
        if len(members) < 2:
            raise DataError(
                words("the pattern of --members matches one column"), expected="at least two members"
            )
        return from_members(list(members.values()))
    expected = f"positive Beta parameters from {_MIN_ALPHA:g} to 1e100"
    parameters = _usable(rows, _MIN_ALPHA, 1 / _MIN_ALPHA, "{}", expected)
    return from_beta(parameters["alpha1"], parameters["alpha0"])


def _usable(rows: Rows, low: float, high: float, title: str, expected: str) -> dict[str, Floats]:
    """Return the columns with a valid placeholder in invalid rows; refuse values outside a range."""
    columns = {name: rows.filled(value, 0.5) for name, value in rows.numbers.items()}
    for name, value in columns.items():
        outside = value[(value < low) | (value > high)]
        if len(outside):
            raise DataError(f"{title.format(name)} holds {outside[0]:g}", expected=expected)
    return columns
