"""Constraints on a boundary, and what each kind has to answer.

Others ask a constraint what follows from it, and never which kind it is. The kinds are the classes of
``constraint_kinds``; ``typed_constraints`` reads them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np

from uqcli.base.counts import Bools, Cells, Ints
from uqcli.base.errors import Words
from uqcli.base.exact_numbers import percent_text
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, listed, percent, percents
from uqcli.boundary.search.goals import Goal, KeepBounds, TopRuns
from uqcli.estimates.confusion import Confusion, Rate

BOUND_FACTORS: Final = (Fraction(9, 10), Fraction(1), Fraction(11, 10))
"""Factors of the requested bound, for bounds near it."""


@dataclass(frozen=True, kw_only=True)
class ConstraintRule(ABC):
    """What a kind of constraint answers about a bound; the defaults are those of most kinds.

    The class variables say what follows from the kind:

    kind, options
        Its name, and the options that set it, joined for a sentence.
    name, wording
        What it bounds, in sentences; and the description of a bound, with a placeholder for its value.
    aimed
        What a boundary maximises under it, with a placeholder for the description.
    easier_alone
        What to do if no rule meets it, for a sentence.
    is_bound
        Whether it is met or missed; otherwise it is the gain and the cost of a flagged row.
    is_upper, is_budget
        Whether the bound is the largest value, and whether flagged rows or false positives use it up.
    rates
        The rate that it bounds, if any.
    is_promise
        Whether a rule can promise its rate on new data (see ``PromisedRate``).
    is_proportion_of_flagged
        Whether the flagged rows alone show its rate. Then their labels suffice, one row of each cluster can
        certify it, and rows below them may be reviewed.
    is_of_cleared
        Whether it is about rows that nobody looks at, so that only a certificate of one threshold shows it.
    limits_alerts, is_share
        Whether it bounds the flagged rows, and whether by a share that new rows may exceed.
    trials, success
        Rows that are counted for it, and what a success is called, in an audit.
    bounds_recall
        Whether it bounds what other kinds maximise, so that beside them it is checked and not searched.
    takes_margin
        Whether its bound may have a margin in standard errors.
    own_column
        Heading of a column for its rate; empty for rates that all tables have, or that none has.
    added_metrics
        Its rates that are no metrics of rules of other kinds.
    """

    value: str
    numbers: tuple[Fraction, ...]
    margin: Fraction = Fraction(0)
    amounts: Mapping[str, str] = field(default_factory=dict)

    kind: ClassVar[str]
    options: ClassVar[Words]
    name: ClassVar[str] = "bound"
    wording: ClassVar[str]
    aimed: ClassVar[str] = "the highest recall with {}"
    easier_alone: ClassVar[str] = "lower the target"
    is_bound: ClassVar[bool] = True
    is_upper: ClassVar[bool] = False
    is_budget: ClassVar[bool] = False
    rates: ClassVar[tuple[Rate, ...]] = ()
    is_promise: ClassVar[bool] = False
    is_proportion_of_flagged: ClassVar[bool] = False
    is_of_cleared: ClassVar[bool] = False
    limits_alerts: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    trials: ClassVar[str] = "rows"
    success: ClassVar[str] = "flagged"
    bounds_recall: ClassVar[bool] = False
    takes_margin: ClassVar[bool] = False
    own_column: ClassVar[str] = ""
    added_metrics: ClassVar[tuple[Rate, ...]] = ()

    @classmethod
    @abstractmethod
    def read(cls, text: str) -> Constraint:
        """Make a constraint of the typed value."""

    def is_met_alone(self, fit: Confusion[int]) -> bool:
        """Whether a boundary is within the bound of the kind; what bounds nothing is met."""
        del fit
        return True

    @abstractmethod
    def goal_alone(self, cells: Cells) -> Goal:
        """Return the goal of the kind, without further bounds."""

    def objective(self, fit: Confusion[int]) -> Fraction:
        """Compute the objective among boundaries that meet the constraint."""
        return Fraction(fit.true_positives)

    def reached(self, fit: Confusion[int]) -> tuple[str, str]:
        """Return the name of the objective, and what a boundary reaches of it."""
        return "recall", percent(fit.recall)

    def expected_objective(self, fit: Confusion[int], precision: float, recall: float) -> float:
        """Compute the objective at the rates that a boundary is expected to have on new data."""
        del fit, precision
        return recall

    def value_of(self, fit: Confusion[int]) -> dict[str, float | None]:
        """Compute what a boundary is worth by metric: gains less costs, and the share of all possible gain.

        Empty for a bound; the share is None if the positives have no gain.
        """
        del fit
        return {}

    def expected_value(self, selected: int, precision: float) -> float | None:
        """Compute the value of some flagged rows at a precision; None for a bound."""
        del selected, precision
        return None

    def values(self, positive: Bools, amounts: Ints) -> Ints:
        """Return the value of flagging each row, int64 of shape (n,): without gain and cost, 1 if positive.

        Amounts, int64 of shape (amounts, n), are in the order of ``self.amounts``. The values are in units of
        ``unit``.
        """
        del amounts
        return positive.astype(np.int64)

    @property
    def unit(self) -> Fraction:
        """Unit of ``values``."""
        return Fraction(1)

    def worth(self, runs: TopRuns) -> tuple[Ints, int]:
        """Return what selections are worth, and the most they can be: true positives, or value and gain."""
        return runs.true_positives, int(runs.true_positives[-1])

    def reachable_alerts(self, rows: int, positives: int) -> Fraction:
        """Compute the most rows that can be flagged at the rate, however they are chosen."""
        del positives
        return Fraction(rows)

    def converted(self, positive: Fraction, negative: Fraction) -> Self:
        """Convert a bound on target data, by the weights of the classes there, to one on the source data.

        A rate of one class does not depend on them.
        """
        del positive, negative
        return self

    @property
    def sets_odds(self) -> bool:
        """Whether it states how many true positives are worth a false positive."""
        return False

    @property
    def odds(self) -> Fraction | None:
        """True positives that are worth one false positive; None if not set, or infinite.

        A precision is taken as the threshold probability s, with odds s / (1 - s). A utility has cost / gain.
        """
        return None

    def numbers_nearby(self, share: Fraction) -> Sequence[Fraction]:
        """Return bounds around the requested one; empty if no others are tried."""
        del share
        return rates_of(self.numbers[0] * factor for factor in BOUND_FACTORS)

    def for_share(self, share: Fraction) -> Self:
        """Return the bound for a share of the rows."""
        del share
        return self

    @property
    def bound(self) -> str:
        """The bound in words: a rate in percent, with all digits that were typed."""
        return percent_text(self.value)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words of a command line that ask for the first bound."""
        return f"--{self.kind}", self.value

    def missed(self, fit: Confusion[int]) -> str:
        """State by how much a boundary misses the bound; what bounds nothing is not missed."""
        del fit
        return ""

    def beside_answer(self, fit: Confusion[int]) -> str:
        """State what the answer on the calibration rows leaves out, as a further sentence, if anything."""
        del fit
        return ""

    def cautions(self, fit: Confusion[int], rows: int) -> list[Notice]:
        """Caution that new rows may exceed the bound, or that it may mean something else."""
        del fit, rows
        return []


@dataclass(frozen=True, kw_only=True)
class Constraint(ConstraintRule):
    """A constraint on a boundary, as typed and as exact fractions: its bound, or gain and cost.

    The margin of the precision over its bound is in standard errors, for nested boundaries. ``also`` are
    further bounds that hold together with it. A boundary of the highest recall within the others decides
    whether a recall is met, so that goals ignore it. ``amounts`` is the column of the amounts of each row by
    role (``gain``, ``cost``), in place of a number of a utility.
    """

    also: tuple[Constraint, ...] = ()

    @property
    def bounds(self) -> tuple[Constraint, ...]:
        """Each bound by itself, the first one with its margin."""
        return (replace(self, also=()), *self.also)

    @property
    def promised_bounds(self) -> dict[str, Fraction]:
        """Bounds that a rule can promise on new data, by the names of their rates."""
        promised = (bound for bound in self.bounds if bound.is_promise)
        return {str(rate): bound.numbers[0] for bound in promised for rate in bound.rates}

    @property
    def alert_limits(self) -> tuple[Constraint, ...]:
        """The bounds on the flagged rows, by number or share."""
        return tuple(bound for bound in self.bounds if bound.limits_alerts)

    @property
    def recall_bounds(self) -> tuple[Constraint, ...]:
        """The bounds on what other kinds maximise."""
        return tuple(bound for bound in self.bounds if bound.bounds_recall)

    @property
    def limits(self) -> Self:
        """The bounds within which the recall is the highest: all but one on recall beside others."""
        return replace(self, also=tuple(bound for bound in self.also if not bound.bounds_recall))

    @property
    def easier(self) -> str:
        """What to do if no rule meets it, for a sentence: ask for less."""
        return "relax a bound" if self.also else self.easier_alone

    def is_met(self, fit: Confusion[int]) -> bool:
        """Whether a boundary is within all bounds, without any margin; exact."""
        return all(bound.is_met_alone(fit) for bound in self.bounds)

    def leaves_recall(self, fit: Confusion[int]) -> bool:
        """Whether a boundary has the recall that is required, if any; exact."""
        return all(bound.is_met(fit) for bound in self.recall_bounds)

    def goal(self, cells: Cells) -> Goal:
        """Return the goal of the constraint on given cells."""
        goal = self.goal_alone(cells)
        for bound in self.limits.also:
            other = bound.goal(cells)
            assert isinstance(goal, KeepBounds)  # the kinds that combine have such goals
            assert isinstance(other, KeepBounds)
            goal = goal.within(other)
        return goal

    def nearby(self, share: Fraction) -> list[Self]:
        """Return constraints with bounds around the requested one, for a share of the rows.

        They choose the number of bins together, so that no single value decides.
        """
        also = tuple(bound.for_share(share) for bound in self.also)
        own = replace(self, also=also)
        return [replace(own, numbers=(bound,)) for bound in self.numbers_nearby(share)] or [own]

    def text(self) -> str:
        """Describe the constraint."""
        return listed(bound.wording.format(bound.bound) for bound in self.bounds)

    def as_typed(self) -> str:
        """Describe the constraint with the bounds as they were typed, for programs."""
        return listed(bound.wording.format(bound.value) for bound in self.bounds)

    def target(self) -> str:
        """Describe the constraint, as a target if it can be promised."""
        return f"target {self.text()}" if any(bound.is_promise for bound in self.bounds) else self.text()

    def aim(self, bound: str = "") -> str:
        """Describe objective and constraint; ``bound`` replaces the constraint's own description."""
        return self.aimed.format(bound or self.text())

    def recall_shortfall(self, closest: Confusion[int]) -> str:
        """State by how much the best boundary within the other bounds misses the recall."""
        recall = self.recall_bounds[0]
        highest, _ = percents(closest.recall or 0.0, float(recall.numbers[0]))
        return f"the highest recall found {self.limits.where()} is {highest} %, below {recall.bound}"

    def joint_shortfall(self, closest: Confusion[int], algorithm: str) -> str:
        """State which of several bounds the closest boundary misses, and by how much."""
        limits = self.limits
        missed = [bound.missed(closest) for bound in limits.bounds if not bound.is_met(closest)]
        if not missed:
            return (
                f"{algorithm} finds no boundary with {limits.text()}, but there is one on its grid: "
                "--algorithm vw-dpmt finds such boundaries"
            )
        return (
            f"no boundary has {limits.text()}; the closest has {listed(missed)}, at recall "
            f"{percent(closest.recall)} ({count(closest.selected)} flagged)"
        )

    def where(self) -> str:
        """Describe the boundaries that meet it, after what is known of them."""
        return f"with {self.text()}"

    def among(self) -> str:
        """Say where the number of a usual target holds, after the number."""
        return self.where()

    def finding(self, flagged: str, value: str) -> str:
        """State what new rows show where no rate is tested: the flagged rows, or their value."""
        del value
        return f"flags {flagged}; its limit was {self.text()} when it was fitted."

    def shortfall(self, closest: Confusion[int], reason: str, hint: str) -> str:
        """State how close the closest boundary comes to a bound that none meets.

        A reason says why none can, if it is known, and a hint says what else to try.
        """
        del reason, hint
        return (
            f"no boundary with {self.limits.text()} finds a positive row; the closest flags "
            f"{count(closest.selected)}, {count(closest.true_positives)} of them positive"
        )

    def beside_expectation(self, fit: Confusion[int]) -> str:
        """State what the calibration rows show beside what is expected, as a sentence after it, if any."""
        return next(filter(None, (bound.beside_expectation(fit) for bound in self.also)), "")


def rates_of(bounds: Iterable[Fraction]) -> list[Fraction]:
    """Keep the bounds that a rate may have."""
    return [bound for bound in bounds if 0 < bound <= 1]
