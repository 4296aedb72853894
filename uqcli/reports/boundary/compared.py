"""Whether the uncertainty pays, in words, numbers and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from uqcli.document import Estimate, Metrics, Table, p_text, plain
from uqcli.methods.boundary.ranking.placebo import Gain

Verdict = Literal["helps", "no evidence", "hurts"]

_LEVEL: Final = 0.05
_LEAST: Final = 0.005
"""Recall that a verdict needs beyond the placebos'."""

_NOT_TESTED: Final = Estimate(value=None, low=None, high=None)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What one column of uncertainty gains over the score alone.

    Attributes
    ----------
    gain
        None where no threshold on the score meets the constraint.
    p_value, p_hurts
        How likely placebos gain as much, and as little, for all columns that were tried together (Holm).
    """

    uncertainty: str
    gain: Gain | None
    p_value: float | None
    p_hurts: float | None

    @property
    def beyond(self) -> float:
        """Recall gained beyond what placebos gain; none where nothing was tested."""
        if self.gain is None or self.gain.equal_alerts.value is None:
            return 0.0
        return self.gain.equal_alerts.value - self.gain.placebo

    @property
    def verdict(self) -> Verdict:
        """Whether it pays: by the test, and by a gain that anyone would notice."""
        if self.p_value is not None and self.p_value <= _LEVEL and self.beyond >= _LEAST:
            return "helps"
        if self.p_hurts is not None and self.p_hurts <= _LEVEL and self.beyond <= -_LEAST:
            return "hurts"
        return "no evidence"

    @property
    def _small(self) -> bool:
        """Whether placebos are told apart by less than anyone would notice."""
        return any(p is not None and p <= _LEVEL for p in (self.p_value, self.p_hurts))

    @property
    def metrics(self) -> Metrics:
        """By their contract names."""
        found = self.gain
        gain: Metrics = {
            "recall": found.at_bound if found else _NOT_TESTED,
            "equal_alerts": found.equal_alerts if found else _NOT_TESTED,
            "placebo": found.placebo if found else None,
            "p": self.p_value,
        }
        return {"gain": gain}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return {"uncertainty": self.uncertainty, "verdict": self.verdict, "metrics": plain(self.metrics)}

    def sentence(self, bound: str = "the bound", alone: str = "--algorithm st") -> str:
        """The verdict, what it rests on, and what to do.

        Parameters
        ----------
        bound
            What was asked for, in words.
        alone
            The decision by the score alone, in words.
        """
        name = f"Uncertainty '{self.uncertainty}'"
        if self.gain is None:
            return (
                f"{name}: no evidence, as no threshold on the score meets the constraint to be held against."
            )
        said = (
            f"on rows held out, at as many alerts, recall changes by {_points(self.gain.equal_alerts)} "
            f"points against the score alone; by {100 * self.gain.placebo:+.2f} with placebos, uncertainties "
            f"exchanged among rows of like score ({p_text(self.p_value)} that placebos gain as much)"
        )
        instead = f"Use one threshold ({alone})."
        match self.verdict:
            case "helps":
                own = _points(self.gain.at_bound)
                more = "" if own == "-" else f" With {bound} kept by both there, by {own}."
                return f"{name} helps: {said}.{more} Use the boundary."
            case "hurts":
                return f"{name} hurts: {said}. {instead}"
            case "no evidence":
                few = (
                    f" Less than {100 * _LEAST:g} points beyond placebos count as none."
                    if self._small
                    else ""
                )
                return f"No evidence that {name.replace('U', 'u', 1)} helps: {said}.{few} {instead}"


def gains_table(compared: Sequence[Compared]) -> Table:
    """What each column gains, the best first."""
    header = ("uncertainty", "at as many alerts", "at the bound", "placebos at as many", "p", "verdict")
    rows = [
        (each.uncertainty, *(_cells(each.gain) if each.gain else ("-", "-", "-")), _p(each), each.verdict)
        for each in compared
    ]
    title = "Points of recall beyond the score alone, cross-fitted: on rows held out (95 % intervals)"
    return Table(title=title, header=header, rows=rows)


def _cells(found: Gain) -> tuple[str, str, str]:
    return _points(found.equal_alerts), _points(found.at_bound), f"{100 * found.placebo:+.2f}"


def _p(compared: Compared) -> str:
    return "-" if compared.p_value is None else f"{compared.p_value:.3g}"


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.value:+.2f} ({100 * estimate.low:+.2f} to {100 * estimate.high:+.2f})"
