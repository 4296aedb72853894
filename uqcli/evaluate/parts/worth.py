"""What the decisions of a boundary are worth on a test set, and the difference of two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import percent
from uqcli.estimates.estimate import Estimate, direction, ends_of, interval, money_change
from uqcli.evaluate.report import points_cell
from uqcli.evaluate.statements import Fact, MeasuredPart, Phrases
from uqcli.reports.document import KeyNumber, Metrics
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class Worth(MeasuredPart):
    """Value of a boundary on a test set; with intervals if rows suffice.

    The interval of a value is that of the value to be expected of as many new rows. The value is the gains of
    the flagged positive rows less the costs of the other flagged rows, and ``caught`` the share of the gain
    of all positive rows that the flagged ones have; its value is None without gain. ``heavy_tailed`` says
    that a few large amounts decide the value of the ``subject``.
    """

    subject: str
    value: Estimate
    caught: Estimate
    heavy_tailed: bool
    confidence: float

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"value": self.value, "value_caught": self.caught}

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        form = f",.{_decimals(self.value.value or 0.0)}f"
        value = f"{_rounded(self.value.value)}{ends_of(self.value, form)}"
        return {"value": value, "gain caught": interval(self.caught)}

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "worth", self._sentence()
        yield "worth-number", self._number()
        yield from self.cautions()

    def cautions(self) -> Iterator[Statement]:
        """Caution that the interval of the value rests on a few large amounts."""
        if self.heavy_tailed and self.value.ends:
            few = "a few large amounts decide it, so its interval may be too short"
            yield "heavy-tails", Notice("heavy-tails", f"{self.subject}: {few}: use more rows.")

    def _range(self) -> str:
        """Format the range of the value with its decimals; empty without one."""
        decimals = _decimals(self.value.value or 0.0)
        return " to ".join(f"{end:,.{decimals}f}" for end in self.value.ends)

    def _sentence(self) -> str:
        """State what the flagged rows are worth, what to expect, and the share of the possible gain."""
        worth = f"The flagged rows are worth {_rounded(self.value.value)}"
        if ends := self._range():
            worth = f"{worth} (expected on as many new rows: {ends}, {100 * self.confidence:g} % range)"
        caught = self.caught.value
        held = "" if caught is None else f"; they hold {percent(caught)} of the gain from all positives"
        return f"{worth}{held}."  # costs are in the value alone, so that the share is not one of it

    def _number(self) -> KeyNumber:
        ends = self._range()
        beside = f"{ends} ({100 * self.confidence:g} % range)" if ends else ""
        return KeyNumber(
            label="net value of the flagged rows", value=_rounded(self.value.value), interval=beside
        )


@dataclass(frozen=True, kw_only=True)
class WorthMore(Worth):
    """Value of a second boundary less that of a first; ``otherwise`` is the advice if they do not differ."""

    names: Sequence[str]
    otherwise: str

    def voids(self) -> Iterable[Fact]:
        return [Fact.BY_RATES]

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        value, significance = self.value, ""
        if value.ends and value.value is not None:
            significance = " (sig.)" if direction(value) else " (n.s.)"
        ends = "" if brief else ends_of(value, "+,.0f")
        return {
            "value": f"{_rounded(value.value, '+')}{ends}{significance}",
            "gain caught": points_cell(self.caught, brief=brief),
        }

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "worth-more", self._advice()
        yield from self.cautions()

    def _advice(self) -> str:
        """State which of the two is worth more, or what to do if neither is significantly."""
        value = self.value
        if not value.value or not direction(value):
            why = "" if value.ends else ", too few rows differ"
            return f"The values do not differ significantly ({money_change(value)}{why}): {self.otherwise}."
        better = self.names[1] if value.value > 0 else self.names[0]
        low, high = sorted(abs(end or 0.0) for end in (value.low, value.high))
        worth = f"{_rounded(abs(value.value))} ({_rounded(low)} to {_rounded(high)})"
        return f"{better} is worth {worth} more on these rows: use it."


def _rounded(value: float | None, sign: str = "") -> str:
    """Format an amount in a table, without decimals if it is large."""
    return "-" if value is None else f"{value:{sign},.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    return 0 if abs(value) >= 1000 else 2
