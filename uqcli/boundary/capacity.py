"""A capacity: the first rows of each group are flagged, up to a number, whatever the thresholds.

The cuts of the groups are found in a first pass over all rows, and rows are decided in a second one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from uqcli.base.choices import Algorithm, AlgorithmChoice, ArtifactKind, EngineName, OnInvalid
from uqcli.base.counts import Bools, Ints
from uqcli.base.dates import date_of
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.options import FirstRowsOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import count, counted, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import ZONES, BoundaryParameters, Fit, SavedConstraint
from uqcli.boundary.rule_words import highest_ranked
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.rules.saved import Source


@dataclass(frozen=True, kw_only=True, eq=False)
class Capacity:
    """Cut of all rows together.

    ``order`` has the group of each of the ``names``, as which the second pass numbers them; -1 for others.
    ``ranked`` are the rows, with a label or without.
    """

    rule: BoundaryArtifact
    top: int
    levels: Mapping[str, int]
    names: Sequence[str]
    order: Ints
    cuts: Cuts
    ranked: int

    def takes(self, rows: Rows) -> Bools:
        """Whether rows of the second pass are flagged."""
        place, score = self.rule.place_of(rows)
        return self.cuts.takes(self._group(rows), place, score, rows.position)

    def _group(self, rows: Rows) -> Ints:
        return np.zeros(len(rows), dtype=np.int64)

    def in_order_of(self, names: Sequence[str]) -> Capacity:
        """Return it for a second pass that numbers groups in the order of names, which may be more."""
        order = np.array([*(self.levels.get(name, -1) for name in names), -1], dtype=np.int64)
        return replace(self, names=names, order=order)

    def second_pass(self, data: DataRequest) -> DataRequest:
        """Return the request for the rows to decide, in which groups are a feature of known levels."""
        return data

    units = ""

    @property
    def options(self) -> str:
        """The options that flag these rows."""
        return f" --top {self.top}"

    def options_beside(self, own: FirstRowsOptions) -> str:
        """Return the options that flag these rows with a rule that has some of its own; empty if it does."""
        of_rule = f" --top {own.top} --per {quote(own.per or '')}"
        return "" if self.options == of_rule else self.options

    @property
    def first_rows(self) -> str:
        """The rows that are flagged, in words."""
        return f"{highest_ranked(self.top)}{self._of_groups}"

    @property
    def _of_groups(self) -> str:
        return ""

    @property
    def _where_tied(self) -> str:
        return ""

    @property
    def fewer(self) -> str:
        """A sentence on the groups that have fewer rows; empty if there are none."""
        below = int(np.count_nonzero(self.cuts.taken < self.top))
        return self._fewer(below) if below else ""

    def _fewer(self, below: int) -> str:  # noqa: ARG002
        return f"All usable rows are flagged, since there are fewer than {count(self.top)}."

    @property
    def tied(self) -> int:
        """Rows that are not flagged only since they come after equal ones."""
        return int(self.cuts.tied.sum())

    def caution_of_ties(self) -> None:
        """Add a caution of rows that are not flagged only since they come after equal ones, if any are."""
        for notice in self.ties_in_words():
            caution(notice.key, notice)

    def ties_in_words(self) -> list[Notice]:
        """Return a caution of rows that are not flagged only since they come after equal ones, if any are."""
        return ties_in_words(self.cuts, self._where_tied)


@dataclass(frozen=True, kw_only=True)
class CapacityPerGroup(Capacity):
    """Cuts of the groups that are the values of a column."""

    per: str

    def _group(self, rows: Rows) -> Ints:
        level = rows.features[self.per].value.astype(np.int64)
        group: Ints = self.order[level]
        return group

    def second_pass(self, data: DataRequest) -> DataRequest:
        """Return the request, in which groups are a feature of known levels."""
        per, roles = self.per, data.roles
        feature = FeatureRequest(name=per, text=True, levels=tuple(self.names), option="per", dated=True)
        keys = roles.keys if per in roles.keys else (*roles.keys, per)
        keyed = replace(roles, keys=keys, per=per, features=(*roles.features, feature))
        return replace(data, roles=keyed)

    @property
    def options(self) -> str:
        """The options that flag these rows."""
        return f"{super().options} --per {quote(self.per)}"

    @property
    def units(self) -> str:  # type: ignore[override]
        """What the groups are called: days, if all of them are dates, and there are any."""
        return "days" if self.levels and None not in map(date_of, self.levels) else "groups"

    @property
    def _of_groups(self) -> str:
        if len(self.levels) == 1:
            return f" of 1 {self.units.removesuffix('s')}"
        return f" of each of {count(len(self.levels))} {self.units}"

    def _fewer(self, below: int) -> str:
        has, groups = "has" if below == 1 else "have", count(len(self.levels))
        return f"{count(below)} of {groups} {self.units} {has} fewer than {rows_of(self.top)}."

    @property
    def _where_tied(self) -> str:
        return in_groups(self.cuts)


def in_groups(cuts: Cuts) -> str:
    """Say in how many groups rows tie at the cut, for ``ties_in_words``."""
    groups = int(np.count_nonzero(cuts.tied))
    return f", in {counted(groups, 'group')}"


def ties_in_words(cuts: Cuts, where: str) -> list[Notice]:
    """Return a caution of rows that are not flagged only since they come after equal ones, if any are."""
    rows = int(cuts.tied.sum())
    if not rows:
        return []
    ranks, are = ("ranks", "is") if rows == 1 else ("rank", "are")
    tied = (
        f"{rows_of(rows)} {ranks} as the last flagged row does{where}, and {are} not flagged: "
        "of rows of equal scores the first ones in the input are taken. Use scores of more digits, or "
        "another --top."
    )
    return [Notice("ties-at-the-cut", tied)]


class FirstRowsRule(BoundaryArtifact, frozen=True, kw_only=True, dict=True):
    """A boundary that orders rows, of which the first ones are flagged, whatever its thresholds."""

    ranking: Capacity

    by_thresholds: ClassVar[bool] = False

    @classmethod
    def of(cls, rule: BoundaryArtifact, ranking: Capacity) -> Self:
        """Return a rule that flags the first rows in the order of another one."""
        return cls(**{name: getattr(rule, name) for name in rule.__struct_fields__}, ranking=ranking)

    def decide(self, rows: Rows) -> Bools:
        """See BoundaryArtifact."""
        return self.ranking.takes(rows)

    def zones(self, rows: Rows) -> Ints:
        """See BoundaryArtifact."""
        return np.where(self.decide(rows), 0, len(ZONES) - 1)


def order_of_scores(score: str, top: int, on_invalid: OnInvalid) -> BoundaryArtifact:
    """Return a rule that no rows were fitted for: it orders rows by a column of scores alone."""
    return BoundaryArtifact(
        kind=ArtifactKind.BOUNDARY,
        source=Source(rows=0, positives=0, dropped=0, columns={"score": score}),
        parameters=parameters_of_scores(top, on_invalid, None),
        algorithm=Algorithm.ST,
        constraint=SavedConstraint.of(constraint_of(top)),
        uncertainty_edges=[],
        thresholds=[None],
        fit=Fit(selected=0, true_positives=0, rows=0, positives=0, precision=0.0, recall=0.0),
    )


def constraint_of(top: int) -> Constraint:
    """Return the constraint of a rule that only orders rows: their number, which no threshold meets."""
    return constraint_from(max_selected=str(top))


def parameters_of_scores(
    top: int, on_invalid: OnInvalid, positive: str | None, **given: Any
) -> BoundaryParameters:
    """Return the parameters of a rule that only orders rows, by their scores alone."""
    return BoundaryParameters(
        algorithm=AlgorithmChoice(Algorithm.ST),
        binning=None,
        uncertainty_bins=1,
        score_bins="all",
        constraint=SavedConstraint.of(constraint_of(top)),
        on_invalid=on_invalid,
        positive=positive,
        **given,
    )


def refuse_unranked(data: DataRequest, per: str | None) -> None:
    """Refuse labelled rows that cannot be ranked one by one, or whose groups are their labels."""
    if data.engine is EngineName.SPARK:
        raise UsageError(
            words("--top with --engine spark"), expected="rows in order", remedy=words("use --engine polars")
        )
    if data.roles.weight is not None:
        raise UsageError(
            words("--top with a column of row counts ('{}')", data.roles.weight),
            expected="one row for each case, which is flagged or not",
            remedy=words("add --no-weight"),
        )
    if per == data.roles.label:  # which is always read
        raise UsageError(
            words("--per and --label both name the column '{}'", per), expected="different columns"
        )


def find_capacity(data: DataRequest, rule: BoundaryArtifact, top: int, per: str | None) -> Capacity:
    """Find the cuts of the groups in a first pass over the rows, of which no label is read."""
    usable = OnInvalid.ERROR if data.on_invalid is OnInvalid.ERROR else OnInvalid.DROP
    keys = () if per is None else (per,)
    request = replace(data, roles=replace(data.roles, keys=keys, per=per), on_invalid=usable)
    first, batches, ranked = FirstRows(top), open_engine(data.engine).batches(request), 0
    try:
        with key_named_by(per, Opt("per")):
            for rows in batches:
                place, score = rule.place_of(rows)
                group: Ints = rows.groups[keys[0]] if keys else np.zeros(len(rows), dtype=np.int64)
                first.add(group, place, score, rows.position, rows.weights())
                ranked += len(rows)
    except NoRowsError:  # the second pass says so, or writes a header
        levels: Mapping[str, int] = {} if keys else {"": 0}
    else:
        levels = batches.levels[keys[0]] if keys else {"": 0}
    order = np.array([*levels.values(), -1], dtype=np.int64)
    cuts = first.cuts(len(levels))
    kind = partial(CapacityPerGroup, per=keys[0]) if keys else Capacity
    names = tuple(levels)
    return kind(rule=rule, top=top, levels=levels, names=names, order=order, cuts=cuts, ranked=ranked)
