"""Kind ``boundary``: thresholds on the score per uncertainty bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from uqcli.artifacts.columns import NewColumns
from uqcli.artifacts.saved import Bins, Count, Saved
from uqcli.choices import Algorithm, AlgorithmChoice, Binning, ConstraintKind, OnInvalid
from uqcli.counts import Bools
from uqcli.defaults import LOWEST
from uqcli.document import (
    Document,
    Estimate,
    HeadCard,
    KeyNumber,
    Metrics,
    Table,
    Verdict,
    count,
    key_rate,
    number,
    p_text,
    percent,
    ranges,
    rows_of,
    share,
    share_in_range,
)
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.errors import DataError, UsageError
from uqcli.methods.boundary.algorithms.hr import Recalibration, recalibrated
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.methods.boundary.decide import decide
from uqcli.methods.boundary.result import FitCounts
from uqcli.rows import Rows

EXPECTED: Final = "expected on new data"
EXPECTED_ON_TARGET: Final = "expected on target data"
_RANGE: Final = 0.9
RANGES: Final = "90 % ranges"
"""Corner cell of the table of expected results."""


class SavedConstraint(msgspec.Struct, frozen=True, kw_only=True):
    """Constraint of the boundary; the value as typed."""

    kind: ConstraintKind
    value: str


class BoundaryParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the boundary; null if the algorithm does not use one."""

    algorithm: AlgorithmChoice
    binning: Binning | None
    uncertainty_bins: Bins
    score_bins: Bins | Literal["all"]
    constraint: SavedConstraint
    on_invalid: OnInvalid
    positive: str | None


class SavedRecalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Scores are raised by coefficient * clip((uncertainty - low) / (high - low), 0, 1)."""

    coefficient: float
    low: float
    high: float


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and rates of the boundary on its calibration set, by weight."""

    selected: Count
    true_positives: Count
    rows: Count
    positives: Count
    precision: float
    recall: float

    @property
    def adds_up(self) -> bool:
        """Whether the rates agree with the counts up to rounding."""
        rates_with_rows = ((self.precision, self.selected), (self.recall, self.positives))
        return all(abs(rate * rows - self.true_positives) <= 1e-9 * rows for rate, rows in rates_with_rows)


class SavedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Class weights (negative, positive) of the target data, and the precision there."""

    weights: Annotated[list[Annotated[float, Meta(gt=0)]], Meta(min_length=2, max_length=2)]
    precision: float


class SavedRange(msgspec.Struct, frozen=True, kw_only=True):
    """A share with its 90 % range; null if no valid range exists."""

    value: Annotated[float, Meta(ge=0, le=1)]
    low: float | None
    high: float | None


class SavedExpected(msgspec.Struct, frozen=True, kw_only=True):
    """Expected results on new data."""

    precision: SavedRange
    recall: SavedRange


class TestedOn(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the certificate's test, and those that the boundary flags among them, by weight."""

    rows: Count
    selected: Count
    true_positives: Count


class SavedCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """Guarantee: precision on new data is at least ``precision``, at risk ``delta`` over calibration sets.

    ``p_value``: probability of at least as many true positives among the tested rows at just that precision.
    """

    delta: Annotated[float, Meta(gt=0, lt=1)]
    precision: Annotated[float, Meta(gt=0, le=1)]
    p_value: Annotated[float, Meta(ge=0, le=1)]
    seed: Count
    tested_on: TestedOn


class BoundaryArtifact(Saved, frozen=True, kw_only=True):
    """A decision boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin."""

    parameters: BoundaryParameters
    algorithm: Algorithm
    constraint: SavedConstraint
    uncertainty_edges: list[float]
    thresholds: Annotated[list[float | None], Meta(min_length=1)]
    recalibration: SavedRecalibration | msgspec.UnsetType = msgspec.UNSET
    fit: Fit
    expected: SavedExpected | msgspec.UnsetType | None = msgspec.UNSET
    margin: Annotated[float, Meta(ge=0)] | msgspec.UnsetType = msgspec.UNSET
    target: SavedTarget | msgspec.UnsetType = msgspec.UNSET
    certificate: SavedCertificate | msgspec.UnsetType = msgspec.UNSET

    decides: ClassVar[bool] = True

    @property
    def needs_uncertainty(self) -> bool:
        """Whether decisions use the uncertainty."""
        return len(self.thresholds) > 1 or self.recalibration is not msgspec.UNSET

    def contradiction(self) -> str | None:
        """See Saved."""
        edges, thresholds, fit = self.uncertainty_edges, self.thresholds, self.fit
        numbers = edges + [threshold for threshold in thresholds if threshold is not None]
        hr = self.recalibration
        if not isinstance(hr, msgspec.UnsetType):
            numbers += [hr.coefficient, hr.low, hr.high, hr.high - hr.low]
        if len(thresholds) != len(edges) + 1:
            return f"{len(thresholds)} thresholds for {len(edges)} uncertainty edges"
        if not all(map(math.isfinite, numbers)) or edges != sorted(edges):
            return "its edges and thresholds are not finite and ascending"
        smaller, larger = sorted((fit.selected, fit.positives))
        if not (fit.true_positives <= smaller <= larger <= fit.rows and fit.adds_up):
            return "its fit counts contradict each other"
        if self.certified is not None and not self._is_consistent(self.certified):
            return "its certificate is not about its rows"
        try:
            parse_constraint(self.constraint.kind, self.constraint.value)
        except UsageError as error:
            return str(error)
        return self.missing_columns()

    @property
    def certified(self) -> SavedCertificate | None:
        """The certificate, unless the file has none or its digest does not match."""
        return None if isinstance(self.certificate, msgspec.UnsetType) or self.unsealed else self.certificate

    def _is_consistent(self, certificate: SavedCertificate) -> bool:
        tested = certificate.tested_on
        ordered = tested.true_positives <= tested.selected <= tested.rows <= self.fit.rows
        return ordered and certificate.p_value <= certificate.delta

    @property
    def is_raised(self) -> bool:
        """Whether the uncertainty raises the scores before they are compared (hr)."""
        return not isinstance(self.recalibration, msgspec.UnsetType)

    def decide(self, rows: Rows) -> Bools:
        """Decide which rows are flagged."""
        hr, score = self.recalibration, rows.score
        if not isinstance(hr, msgspec.UnsetType):
            if rows.uncertainty is None:
                raise DataError("no uncertainty read", expected="a column that recalibrates the score")
            recalibration = Recalibration(coefficient=hr.coefficient, low=hr.low, high=hr.high)
            score = recalibrated(score, rows.uncertainty, recalibration)
        return decide(
            score,
            rows.uncertainty,
            uncertainty_edges=self.uncertainty_edges,
            thresholds=self.thresholds,
        )

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: the decision."""
        del roles
        name = f"{new_columns.prefix}decision"
        return AddedColumns(types={name: "bool"}, compute=lambda rows: {name: self.decide(rows)})

    def metrics(self) -> Metrics:
        """See Saved: its results on the calibration set."""
        return {
            "precision": self.fit.precision,
            "recall": self.fit.recall,
            "selected": self.fit.selected,
        }

    def document(self) -> Document:
        """See Saved."""
        fit, source = self.fit, self.source
        columns = ", ".join(f"{role} '{name}'" for role, name in source.columns.items())
        certified, where = "", "calibration set"
        if self.certified is not None:
            tested = self.certified.tested_on.rows
            certified = f", certified at a risk of {100 * self.certified.delta:g} %"
            where = f"calibration set ({count(fit.rows - tested)} chose, {count(tested)} tested)"
        expected = self._expected_rows()
        return Document(
            title=f"Boundary ({self.algorithm}) for {self._target_text(certified)}",
            lead=self._scores_in_words() if self.is_raised else (),
            tables=[
                threshold_table(self.uncertainty_edges, self.thresholds, raised=self.is_raised),
                Table(
                    title="",
                    header=(RANGES if expected else "", "recall", "precision", "flagged"),
                    rows=[(where, share(fit.recall), share(fit.precision), count(fit.selected)), *expected],
                ),
            ],
            notes=[
                *(() if self.is_raised else self._scores_in_words()),
                *(certificate_in_words(self.certified) if self.certified is not None else ()),
                f"Columns: {columns}.",
                f"{self.made_from()}, {count(source.positives)} positive, {count(source.dropped)} dropped.",
            ],
            card=self._card(),
        )

    def _card(self) -> HeadCard:
        """Build the head of the page."""
        kind, value = self.constraint.kind, self.constraint.value
        verdict = verdict_on_calibration_set()
        if self.certified is not None:
            verdict = certified_verdict(value, self.certified.delta)
        if self.unsealed:
            verdict = Verdict(text=self.unsealed, tone="bad")
        saved: tuple[SavedRange | None, SavedRange | None] = (None, None)
        if isinstance(self.expected, SavedExpected):
            saved = (self.expected.precision, self.expected.recall)
        precision, recall = (
            None
            if saved_range is None
            else Estimate(value=saved_range.value, low=saved_range.low, high=saved_range.high)
            for saved_range in saved
        )
        return boundary_card(kind, value, self.fit, (precision, recall), verdict)

    def _expected_rows(self) -> list[tuple[str, ...]]:
        if isinstance(self.expected, msgspec.UnsetType) or self.expected is None:
            return []
        estimates = (self.expected.recall, self.expected.precision)
        name = EXPECTED if isinstance(self.target, msgspec.UnsetType) else EXPECTED_ON_TARGET
        return [
            (
                name,
                *(share_in_range(estimate.value, estimate.low, estimate.high) for estimate in estimates),
                "",
            )
        ]

    @property
    def alert_rate(self) -> float:
        """See Saved."""
        return self.fit.selected / self.fit.rows

    def in_a_sentence(self) -> str:
        """See Saved: with its result on the calibration set."""
        target = self._target_text("" if self.certified is None else ", certified")
        rate = f"{100 * self.alert_rate:.2f} %"
        return f"Boundary ({self.algorithm}) for {target}; alert rate {rate} on the calibration set"

    def _target_text(self, certified: str = "") -> str:
        constraint = parse_constraint(self.constraint.kind, self.constraint.value)
        data = "" if isinstance(self.target, msgspec.UnsetType) else " on target data"
        margin = "" if isinstance(self.margin, msgspec.UnsetType) else f" with margin {self.margin:g}"
        return f"{constraint.text() if certified else constraint.target()}{data}{margin}{certified}"

    def _scores_in_words(self) -> list[str]:
        """Describe how scores are transformed, and for which class priors."""
        sentences, hr, target = [], self.recalibration, self.target
        if not isinstance(hr, msgspec.UnsetType):
            sentences.append(recalibration_in_words(hr.coefficient, hr.low, hr.high))
        if not isinstance(target, msgspec.UnsetType):
            negative, positive = target.weights
            sentences.append(
                f"Negatives are {negative:.4g} and positives {positive:.4g} times as frequent in the target "
                f"data; precision there is {share(target.precision)}."
            )
        return sentences


def verdict_on_calibration_set() -> Verdict:
    """Return the verdict on a boundary that has not been tested on other rows."""
    return Verdict(text="not tested on new rows yet")


def certified_verdict(precision: str, delta: float) -> Verdict:
    """Return the verdict on a certified boundary."""
    return Verdict(
        text=f"certified: precision at least {precision} on new rows (risk {100 * delta:g} %)",
        tone="good",
    )


def boundary_card(
    kind: ConstraintKind,
    value: str,
    fit: FitCounts | Fit,
    expected: tuple[Estimate | None, Estimate | None],
    verdict: Verdict,
) -> HeadCard:
    """Build the head of a page on a boundary.

    Parameters
    ----------
    kind, value
        Its constraint.
    expected
        Precision and recall expected on new rows; None if not estimated.
    """
    where = "on new rows, expected" if expected[0] else "on the calibration set"
    precision, recall = (
        estimate or Estimate(value=rate, low=None, high=None)
        for estimate, rate in zip(expected, (fit.precision, fit.recall), strict=True)
    )
    alert_rate = fit.selected / fit.rows
    rows, found = f"Flag {percent(alert_rate)} of rows", f"{percent(recall.value)} of positives found"
    limit = value.replace("%", " %")
    titles = {
        ConstraintKind.PRECISION: f"{rows} at precision {value}: {found}",
        ConstraintKind.MAX_FPR: f"{rows} at a false-positive rate of {value}: {found}",
        ConstraintKind.MAX_SELECTED: f"Flag at most {limit} of {rows_of(fit.rows)}: {found}",
    }
    return HeadCard(
        title=titles.get(kind, f"{rows}: {found} at precision {precision.value or 0:.2g}"),
        verdict=verdict,
        numbers=[
            key_rate(f"precision {where}", precision, _RANGE),
            key_rate(f"positives found {where}", recall, _RANGE),
            KeyNumber(
                label="flagged",
                value=percent(alert_rate),
                interval=f"{count(fit.selected)} of {rows_of(fit.rows)}",
            ),
        ],
        subject=f"Rule fitted on {{inputs}}: {rows_of(fit.rows)}, {count(fit.positives)} positive.",
    )


def threshold_table(
    uncertainty_edges: Sequence[float], thresholds: Sequence[float | None], *, raised: bool = False
) -> Table:
    """Tabulate the threshold of each uncertainty bin; with ``hr``, thresholds on raised scores."""
    if len(thresholds) == 1:
        return Table(title="", header=("flag when",), rows=((rule(thresholds[0], raised=raised),),))
    rows = [
        (name, rule(threshold, raised=raised))
        for name, threshold in zip(ranges(uncertainty_edges), thresholds, strict=True)
    ]
    return Table(title="", header=("uncertainty", "flag when"), rows=rows, left=2)


def certificate_in_words(certificate: SavedCertificate) -> tuple[str, ...]:
    """State the guarantee on new data, its test and its conditions."""
    tested = certificate.tested_on
    rate = share(tested.true_positives / tested.selected)
    return (
        f"Certified: precision is at least {100 * certificate.precision:g} % on new data, at a risk of "
        f"{100 * certificate.delta:g} %.",
        f"The test: {count(tested.true_positives)} of {count(tested.selected)} flagged rows are positive "
        f"({rate}, {p_text(certificate.p_value)}), among {count(tested.rows)} rows kept for it.",
        "The risk is the share of calibration sets whose certificate is wrong. Where few sets certify any "
        "rule, the share among the certified ones is higher.",
        "It requires independent rows from the same source.",
        f"Bound, risk, seed ({certificate.seed}) and bins must be fixed beforehand; a second try voids the "
        "certificate.",
    )


def recalibration_in_words(coefficient: float, low: float, high: float) -> str:
    """State how scores are raised before they are compared with a threshold (hr)."""
    return (
        f"The raised score is score + {coefficient:g} x the uncertainty, rescaled and clipped so that "
        f"{low:.6g} is 0 and {high:.6g} is 1."
    )


def rule(threshold: float | None, *, raised: bool = False) -> str:
    """State which scores are flagged; ``raised`` means scores that the uncertainty raises (hr)."""
    if threshold is None:
        return "never"
    return "always" if threshold == LOWEST else f"{'raised ' if raised else ''}score >= {number(threshold)}"
