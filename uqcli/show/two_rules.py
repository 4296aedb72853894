"""The report of ``uqcli show`` with two rule files: what differs, and which rows change sides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from uqcli.base.defaults import VERSION
from uqcli.base.escaping import printable
from uqcli.base.records import dataclass
from uqcli.base.wording import count, ranges, rows_of, short_names
from uqcli.boundary.rule import BoundaryArtifact, rule, rule_in_short
from uqcli.reports.document import Document, Metrics, OneResult, Table, in_order
from uqcli.rules.codec import content_of
from uqcli.rules.saved import Saved, given

_IN_THRESHOLDS: Final = frozenset({"thresholds", "uncertainty_edges", "review_thresholds"})
"""Fields that the table of thresholds shows."""

_MAX_CHARACTERS: Final = 28
"""Characters of a value in the table of fields."""


@dataclass(frozen=True, kw_only=True)
class ChangedRows:
    """Numbers of rows by which of two rules flag them."""

    only_first: int
    only_second: int
    both: int
    neither: int

    @property
    def rows(self) -> int:
        """All rows decided."""
        return self.only_first + self.only_second + self.both + self.neither

    @property
    def changed(self) -> int:
        """Rows that one rule flags and the other does not."""
        return self.only_first + self.only_second


@dataclass(frozen=True, kw_only=True)
class ShowTwoReport(OneResult):
    """Two rule files of one kind.

    Attributes
    ----------
    changed
        None without rows.
    """

    names: tuple[str, str]
    rules: tuple[Saved, Saved]
    changed: ChangedRows | None

    @property
    def metrics(self) -> Metrics:
        """Number of fields that differ, and of rows by the rules that flag them."""
        rows = self.changed
        counted: Metrics = {}
        if rows is not None:
            counted = {
                "rows": rows.rows,
                "changed": rows.changed,
                "only_first": rows.only_first,
                "only_second": rows.only_second,
                "both": rows.both,
                "neither": rows.neither,
            }
        return {"differences": len(self._differences), **counted}

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
        if self.changed is not None:
            alike = f"{first} and {second} flag the same rows among {rows_of(self.changed.rows)}."
            of_rows = f"{count(self.changed.changed)} of {rows_of(self.changed.rows)}"
            changed = f"{first} and {second} decide {of_rows} differently."
            return changed if self.changed.changed else alike
        differences = len(self._differences)
        if not differences:
            return f"{first} and {second} are equal."
        return f"{first} and {second} differ in {differences} field{'' if differences == 1 else 's'}."

    def _rows(self) -> list[Table]:
        """Numbers of rows that each rule flags, alone and together."""
        if self.changed is None:
            return []
        rows = self.changed
        cells = [
            ("flagged", count(rows.both + rows.only_first), count(rows.both + rows.only_second)),
            ("flagged by this rule only", count(rows.only_first), count(rows.only_second)),
        ]
        return [Table(title="", header=("", *short_names(self.names)), rows=cells)]

    def _thresholds(self) -> list[Table]:
        """Thresholds of two boundaries in the uncertainty ranges of both."""
        first, second = self.rules
        if not isinstance(first, BoundaryArtifact) or not isinstance(second, BoundaryArtifact):
            return []
        edges = sorted({*first.uncertainty_edges, *second.uncertainty_edges})
        starts = [float("-inf"), *edges]
        names, tables = short_names(self.names), []
        for title in ("", "Review") if first.has_zones or second.has_zones else ("",):
            columns = [
                [_rule_at(saved, start, review=bool(title)) for start in starts] for saved in (first, second)
            ]
            rows = list(zip(ranges(edges), *columns, strict=True))
            if columns[0] != columns[1] or not (first.newer_fields or second.newer_fields):
                tables.append(Table(title=title, header=("uncertainty", *names), rows=rows, left=3))
        groups = in_order({*first.group_rules, *second.group_rules})
        lines = [(printable(name, 30), _of_group(first, name), _of_group(second, name)) for name in groups]
        changed = [line for line in lines if line[1] != line[2]]
        if changed:
            tables.insert(0, Table(title="", header=("group", *names), rows=changed, left=3))
            tables[1:] = [replace(table, title=table.title or "Other groups") for table in tables[1:]]
        return tables

    def _fields(self) -> Table:
        """Other fields that differ."""
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

    def _cautions(self) -> list[str]:
        named = zip(short_names(self.names), self.rules, strict=True)
        return [f"{name}: {saved.unsealed}." for name, saved in named if saved.unsealed]


_INTERNAL: Final = ("reference.", "nested", "dependence.", "format_version")
"""Starts of fields that follow from the others, and say nothing to a reader; JSON has them."""


def _flat(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of nested objects by dotted key; lists are values."""
    for name, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _rule_at(saved: BoundaryArtifact, uncertainty: float, *, review: bool) -> str:
    """The rule of a boundary, or of its review, in the bin that starts at or below an uncertainty."""
    bin_number = sum(edge <= uncertainty for edge in saved.uncertainty_edges)
    if not review:
        return rule(saved.thresholds[bin_number], raised=saved.is_raised)
    thresholds = given(saved.review_thresholds)
    return "never" if thresholds is None else rule(thresholds[bin_number])


def _of_group(saved: BoundaryArtifact, name: str) -> str:
    """The rule of a boundary in a group, in short."""
    group = saved.group_rules.get(name)
    return "as all rows" if group is None else rule_in_short(group.thresholds)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
