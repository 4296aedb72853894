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
    model, output, data = (
        model_of(request.alpha1, request.alpha0, request.members),
        request.output,
        request.data,
    )
    names = {f"{output.prefix}{name}": attribute for name, attribute in _NAMES.items()}

    def compute(rows: Rows) -> dict[str, Bools | Ints | Floats]:
        computed = model.uncertainties(rows)
        return {name: getattr(computed, attribute) for name, attribute in names.items()}

    added = AddedColumns(types=dict.fromkeys(names, "float64"), compute=compute)
    summary = stream(replace(data, roles=model.roles), added, output)
    report = UncertaintyReport(
        added_from=model.description,
        source=WrittenRows(rows=summary.rows, dropped=summary.dropped, columns=model.columns),
        columns=list(names),
        on_invalid=data.on_invalid,
        undecided=summary.undecided,
    )
    return Result(report=report, artifact=None)


@dataclass(frozen=True, kw_only=True)
class _Members:
    """Members of an ensemble, by the pattern of their columns."""

    pattern: str

    @property
    def roles(self) -> Roles:
        """Columns to read."""
        return Roles(numbers={}, pattern=self.pattern)

    @property
    def columns(self) -> dict[str, str]:
        """Columns by role, as reports name them."""
        return {"members": self.pattern}

    @property
    def description(self) -> str:
        """What the score is from, in words."""
        return f"the members '{self.pattern}', which give a Beta distribution of their mean and variance"

    def uncertainties(self, rows: Rows) -> Uncertainties:
        """Compute score and uncertainties of checked rows; refuse values out of range."""
        members = _usable(rows, 0, 1, "member '{}'", "probabilities between 0 and 1")
        if len(members) < 2:
            raise DataError(
                words("the pattern of --members matches one column"), expected="at least two members"
            )
        return from_members(list(members.values()))


@dataclass(frozen=True, kw_only=True)
class _Parameters:
    """Columns of the parameters of a Beta distribution."""

    alpha1: str
    alpha0: str

    @property
    def roles(self) -> Roles:
        """Columns to read."""
        return Roles(numbers=self.columns)

    @property
    def columns(self) -> dict[str, str]:
        """Columns by role, as reports name them."""
        return {"alpha1": self.alpha1, "alpha0": self.alpha0}

    @property
    def description(self) -> str:
        """What the score is from, in words."""
        return f"the Beta distribution of '{self.alpha1}' and '{self.alpha0}'"

    def uncertainties(self, rows: Rows) -> Uncertainties:
        """Compute score and uncertainties of checked rows; refuse values out of range."""
        expected = f"positive Beta parameters from {_MIN_ALPHA:g} to 1e100"
        parameters = _usable(rows, _MIN_ALPHA, 1 / _MIN_ALPHA, "{}", expected)
        return from_beta(parameters["alpha1"], parameters["alpha0"])


def model_of(alpha1: str | None, alpha0: str | None, members: str | None) -> _Members | _Parameters:
    """Return the columns of the Beta parameters or of the ensemble members; one of the two is given."""
    match alpha1, alpha0, members:
        case None, None, str(pattern):
            return _Members(pattern=pattern)
        case str(one), str(other), None:
            if one == other:
                raise UsageError(
                    words("--alpha1 and --alpha0 both name the column '{}'", one),
                    expected="different columns",
                )
            return _Parameters(alpha1=one, alpha0=other)
        case _:
            raise UsageError(
                "the Beta parameters or the members must be given, and not both",
                expected=words("--alpha1 COL and --alpha0 COL, or --members 'PATTERN'"),
            )


def _usable(rows: Rows, low: float, high: float, title: str, expected: str) -> dict[str, Floats]:
    """Return the columns with a valid placeholder in invalid rows; refuse values outside a range."""
    columns = {name: rows.filled(value, 0.5) for name, value in rows.numbers.items()}
    for name, value in columns.items():
        outside = value[(value < low) | (value > high)]
        if len(outside):
            raise DataError(f"{title.format(name)} holds {outside[0]:g}", expected=expected)
    return columns
