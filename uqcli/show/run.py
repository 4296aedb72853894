"""``uqcli show``: describe a rule, or the differences between two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import VERSION
from uqcli.base.errors import UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, printable, ranges, rows_of, short_names
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_words import PREDICTED_CLASS, highest_ranked, rule, rule_in_short
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, Table, in_order
from uqcli.rules.codec import content_of, load
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.labelled import refuse_keep
from uqcli.rules.result import Result
from uqcli.rules.saved import Saved, given, roles_of

_IN_THRESHOLDS: Final = frozenset({"thresholds", "uncertainty_edges", "review_thresholds"})
"""Fields that the table of thresholds shows."""

_MAX_CHARACTERS: Final = 28
"""Characters of a value in the table of fields."""

_TEST_OR_APPLY: Final = "Test it with uqcli evaluate, or apply it to new rows with uqcli apply."

_ACTIONS: Final = {
    ArtifactKind.GRID: "Find a boundary on its cells with uqcli boundary --grid.",
    ArtifactKind.SHIFT: "Give it to uqcli boundary, evaluate or conformal with --shift.",
    ArtifactKind.WATCH: "Add the next rows with uqcli watch --state.",
}
"""What to do with the kinds of files that evaluate does not test."""


@dataclass(frozen=True, kw_only=True)
class ShowTwoReport(OneResult):
    """Two rule files of one kind, and numbers of rows by the rules that flag them, if any were decided."""

    names: tuple[str, str]
    rules: tuple[Saved, Saved]
    counts: Mapping[str, int]

    @property
    def metrics(self) -> Metrics:
        """Number of fields that differ, and of rows by the rules that flag them."""
        return {"differences": len(self._differences), **self.counts}

    def payload(self) -> dict[str, Any]:
        """The JSON form: both files as saved, and the fields that differ."""
        return {
            "command": "show",
            "uqcli_version": VERSION,
            "metrics": dict(self.metrics),
            "results": [
                {"artifact": name, "model": content_of(saved)}
                for name, saved in zip(self.names, self.rules, strict=True)
            ],
            "differences": [
                {"field": field, "first": first, "second": second}
                for field, (first, second) in self._differences.items()
            ],
            "notes": self._cautions(),
        }

    def document(self) -> Document:
        """The readable form."""
        fields = self._fields()
        return Document(
            title=self._title(),
            tables=[*self._rows(), *self._thresholds(), *([fields] if fields.rows else [])],
            cautions=self._cautions(),
        )

    def _title(self) -> str:
        first, second = short_names(self.names)
        if self.counts:
            rows, changed = rows_of(self.counts["rows"]), self.counts["changed"]
            if not changed:
                return f"{first} and {second} flag the same rows among {rows}."
            return f"{first} and {second} decide {count(changed)} of {rows} differently."
        differences = len(self._differences)
        if not differences:
            return f"{first} and {second} are equal."
        return f"{first} and {second} differ in {differences} field{'' if differences == 1 else 's'}."

    def _rows(self) -> list[Table]:
        """Numbers of rows that each rule flags, alone and together."""
        if not self.counts:
            return []
        both, *alone = (self.counts[name] for name in ("both", "only_first", "only_second"))
        cells = [
            ("flagged", *(count(both + rows) for rows in alone)),
            ("flagged by this rule only", *map(count, alone)),
        ]
        return [Table(title="", header=("", *short_names(self.names)), rows=cells)]

    def _thresholds(self) -> list[Table]:
        """Thresholds of two boundaries in the uncertainty ranges of both."""
        first, second = self.rules
        if not isinstance(first, BoundaryArtifact) or not isinstance(second, BoundaryArtifact):
            return []
        names = short_names(self.names)
        if self._different_columns("uncertainty"):
            tables = [
                *_by_uncertainty([(names[0], first)], first.source.signed_uncertainty or ""),
                *_by_uncertainty([(names[1], second)], second.source.signed_uncertainty or ""),
            ]
        else:
            tables = _by_uncertainty([(names[0], first), (names[1], second)], "uncertainty")
        keys = [PREDICTED_CLASS if saved.class_names else saved.by for saved in (first, second)]
        if None not in keys and keys[0] != keys[1]:  # a group of one rule is none of the other
            by_key = [
                Table(
                    title="",
                    header=(printable(key or "", 30), name),
                    rows=[
                        (printable(group, 30), _of_group(saved, group))
                        for group in in_order(saved.group_rules)
                    ],
                    left=2,
                )
                for key, name, saved in zip(keys, names, (first, second), strict=True)
            ]
            return [*by_key, *(replace(table, title=table.title or "Other groups") for table in tables)]
        groups = in_order({*first.group_rules, *second.group_rules})
        lines = [(printable(name, 30), _of_group(first, name), _of_group(second, name)) for name in groups]
        changed = [line for line in lines if line[1] != line[2]]
        if changed:
            tables.insert(0, Table(title="", header=("group", *names), rows=changed, left=3))
            tables[1:] = [replace(table, title=table.title or "Other groups") for table in tables[1:]]
        return tables

    def _fields(self) -> Table:
        rows = [
            (field, *(printable(_text(value), _MAX_CHARACTERS) for value in values))
            for field, values in self._differences.items()
            if field not in _IN_THRESHOLDS and not field.startswith(_INTERNAL)
        ]
        return Table(title="", header=("field", *short_names(self.names)), rows=rows, left=3)

    @cached_property
    def _differences(self) -> dict[str, tuple[Any, Any]]:
        """Values of the fields that differ, by dotted key; None for a field that is missing."""
        first, second = (dict(_flat(content_of(saved))) for saved in self.rules)
        pairs = {name: (first.get(name), second.get(name)) for name in {**first, **second}}
        return {name: pair for name, pair in pairs.items() if name != "digest" and pair[0] != pair[1]}

    def _cautions(self) -> list[Notice]:
        first, second = short_names(self.names)
        named = zip((first, second), self.rules, strict=True)
        cautions = [
            Notice("edited-rule", f"{name}: {saved.unsealed}.") for name, saved in named if saved.unsealed
        ]
        for role in ("score", "uncertainty"):
            if columns := self._different_columns(role):
                one, other = (f"'{printable(column, 30)}'" for column in columns)
                cautions.append(
                    Notice(
                        "other-columns",
                        f"{first} reads the {role} from {one} and {second} from {other}, so that their "
                        "thresholds cannot be compared number by number.",
                    )
                )
        return cautions

    def _different_columns(self, role: str) -> tuple[str, str] | None:
        """Return the columns of a role that both rules read, if they are not the same."""
        first, second = (
            saved.source.signed_uncertainty if role == "uncertainty" else saved.columns.get(role)
            for saved in self.rules
        )
        if not all(saved.needs_uncertainty for saved in self.rules) and role == "uncertainty":
            return None
        return None if first is None or second is None or first == second else (first, second)


_INTERNAL: Final = ("reference.", "nested", "dependence.", "format_version")
"""Starts of fields that follow from the others, and say nothing to a reader; JSON has them."""


def _flat(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of nested objects by dotted key; lists are values."""
    for name, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _by_uncertainty(named: Sequence[tuple[str, BoundaryArtifact]], axis: str) -> list[Table]:
    """Thresholds of boundaries in the ranges of one uncertainty; also those of a review if they differ."""
    names, saved = zip(*named, strict=True)
    edges = sorted({edge for boundary in saved for edge in boundary.uncertainty_edges})
    starts, tables = [float("-inf"), *edges], []
    for title in ("", "Review") if any(boundary.has_zones for boundary in saved) else ("",):
        columns = [[_rule_at(boundary, start, review=bool(title)) for start in starts] for boundary in saved]
        rows = list(zip(ranges(edges), *columns, strict=True))
        is_equal = len(columns) > 1 and columns[0] == columns[1]
        if not is_equal or not any(boundary.newer_fields for boundary in saved):
            header = (printable(axis, 30), *names)
            tables.append(Table(title=title, header=header, rows=rows, left=len(header)))
    return tables


def _rule_at(saved: BoundaryArtifact, uncertainty: float, *, review: bool) -> str:
    """The rule of a boundary, or of its review, in the bin that starts at or below an uncertainty."""
    if not review and saved.first.top:
        return highest_ranked(saved.first.top)
    bin_number = sum(edge <= uncertainty for edge in saved.uncertainty_edges)
    if not review:
        return rule(saved.thresholds[bin_number], raised=saved.is_raised)
    thresholds = given(saved.review_thresholds)
    return "never" if thresholds is None else rule(thresholds[bin_number])


def _of_group(saved: BoundaryArtifact, name: str) -> str:
    group = saved.group_rules.get(name)
    return "as all rows" if group is None else rule_in_short(group.thresholds)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class ShowReport(OneResult):
    """A saved rule of any kind."""

    rule: Saved

    @property
    def metrics(self) -> Metrics:
        """Numbers of the rule."""
        return self.rule.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: the rule as saved. A digest that does not match is null, with the reason."""
        content = content_of(self.rule)
        if not self.rule.unsealed:
            return content
        return {**content, "digest": None, "seal": str(self.rule.seal)}

    def document(self) -> Document:
        """Return the readable form."""
        document = self.rule.document()
        card = document.card or HeadCard(title=document.title)
        return replace(
            document,
            cautions=[Notice("edited-rule", f"{self.rule.unsealed}.")] if self.rule.unsealed else [],
            card=replace(
                card,
                title=f"Saved rule: {card.title[:1].lower()}{card.title[1:]}",
                subject=f"What {{rules}} does; it was fitted on {rows_of(self.rule.source.rows)}.",
                action=_ACTIONS.get(self.rule.kind, _TEST_OR_APPLY),
            ),
        )


def show_one(artifact: str) -> Result[ShowReport, None]:
    """Load a rule file."""
    return Result(report=ShowReport(rule=load(artifact, may_be_state=True)), artifact=None)


def show_two(
    artifact: str, second_artifact: str | None, data: DataRequest | None
) -> Result[ShowTwoReport, None]:
    """Load two rule files, and count the rows on which they decide differently, if there are any rows."""
    if second_artifact is None:
        raise UsageError(words("--on with one rule file"), expected="two rule files, or apply for one")
    rules = load(artifact), load(second_artifact)
    first, second = rules
    if first.kind != second.kind:
        raise UsageError(
            f"'{artifact}' is of kind {first.kind}, '{second_artifact}' of kind {second.kind}",
            expected="two rule files of one kind",
        )
    counts = {} if data is None else _count(rules, data)
    report = ShowTwoReport(names=(artifact, second_artifact), rules=rules, counts=counts)
    return Result(report=report, artifact=None)


def _count(rules: tuple[Saved, Saved], data: DataRequest) -> dict[str, int]:
    """Count the rows that both, one or none of two boundaries flag."""
    first, second = rules
    if not isinstance(first, BoundaryArtifact) or not isinstance(second, BoundaryArtifact):
        raise UsageError(words("--on with rule files of kind {}", first.kind), expected="two boundaries")
    refuse_keep(data.on_invalid)
    roles = roles_of(rules, ColumnOverrides(), labelled=False)
    counts = np.zeros(4, dtype=np.int64)
    for rows in open_engine(data.engine).batches(first.as_decided(replace(data, roles=roles))):
        decided = first.decide(rows) + 2 * second.decide(rows)
        counts += np.bincount(decided, weights=rows.weight, minlength=4).astype(np.int64)
    neither, only_first, only_second, both = counts.tolist()
    return {
        "rows": only_first + only_second + both + neither,
        "changed": only_first + only_second,
        "only_first": only_first,
        "only_second": only_second,
        "both": both,
        "neither": neither,
    }
