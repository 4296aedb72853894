"""Reports that are lists of parts.

A part is one feature of a result: what it measures, says, draws and saves. Parts do not know each other. Each
says which facts no longer hold of the result because of it, and fills holes of the sentences that others say.
Then it says its statements by name, and the table of the report places them: in a slot, in the order of the
table, and only where the facts are as the table asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, TypeVar

from uqcli.base.records import dataclass
from uqcli.reports.document import Metrics

PhrasesT = TypeVar("PhrasesT")
Statement = tuple[str, Any]
"""Name of a statement in the table of its report, and its body: a sentence, a table, a figure ..."""

NO_FACTS: Final = frozenset[StrEnum]()


@dataclass(frozen=True)
class Place:
    """Slot of a statement, the facts that it needs, and those beside which it is not said."""

    slot: StrEnum
    needs: frozenset[StrEnum] = NO_FACTS
    unless: frozenset[StrEnum] = NO_FACTS

    def is_open(self, facts: frozenset[StrEnum]) -> bool:
        """Whether its statement may be said of a result."""
        return self.needs <= facts and not self.unless & facts


def place(slot: StrEnum, *needs: StrEnum, unless: StrEnum | None = None) -> Place:
    """Return the place of a statement in a slot (see ``Place``)."""
    return Place(slot, frozenset(needs), NO_FACTS if unless is None else frozenset({unless}))


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Table of a report: all facts, the places of statements in order, and the order of metrics and keys.

    Metrics of which a fact in ``known_if`` does not hold are null.
    """

    facts: frozenset[StrEnum]
    places: Mapping[str, Place]
    metrics: Sequence[str]
    keys: Sequence[str]
    known_if: Mapping[str, StrEnum] = field(default_factory=dict)


class Part(Generic[PhrasesT]):
    """One feature of a result. By default it changes, says and saves nothing.

    Parts of higher ``rank`` have the last word on phrases; of equal ones, the later.
    """

    rank: ClassVar[int] = 0

    def voids(self) -> Iterable[StrEnum]:
        """Return the facts that do not hold of the result because of it."""
        return ()

    def reworded(self, phrases: PhrasesT) -> PhrasesT:
        """Return the holes of core sentences, filled by it."""
        return phrases

    def statements(self, phrases: PhrasesT) -> Iterator[Statement]:
        """Say its statements, in any order."""
        yield from ()

    def exhibits(self, phrases: PhrasesT) -> Iterator[Statement]:
        """Show its tables and figures, which are not made where they are not shown."""
        yield from ()

    def metrics(self, phrases: PhrasesT) -> Metrics:
        """Return its metrics by key; they replace those of the parts before it, and join their mappings."""
        return {}

    def payload(self, phrases: PhrasesT) -> Mapping[str, Any]:
        """Return its keys of the JSON form."""
        return {}

    def saved(self) -> Mapping[str, Any]:
        """Return its fields of the rule file."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Remarks(Part[PhrasesT]):
    """A part that says the same beside whatever other parts; see the methods of ``Part``."""

    said: Sequence[Statement] = ()
    voided: Sequence[StrEnum] = ()
    measured: Metrics = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def voids(self) -> Iterable[StrEnum]:
        return self.voided

    def statements(self, phrases: PhrasesT) -> Iterator[Statement]:
        yield from self.said

    def metrics(self, phrases: PhrasesT) -> Metrics:
        return self.measured

    def payload(self, phrases: PhrasesT) -> Mapping[str, Any]:
        return self.keys

    def saved(self) -> Mapping[str, Any]:
        return self.fields


@dataclass(frozen=True, kw_only=True, eq=False)
class Composition(Generic[PhrasesT]):
    """Parts, folded into facts and phrases, and what they then say."""

    layout: Layout
    parts: Sequence[Part[PhrasesT]]
    plain_phrases: PhrasesT

    @cached_property
    def _ranked(self) -> Sequence[Part[PhrasesT]]:
        return sorted(self.parts, key=lambda part: part.rank)

    @cached_property
    def facts(self) -> frozenset[StrEnum]:
        """What still holds of the result."""
        return self.layout.facts - {fact for part in self.parts for fact in part.voids()}

    @cached_property
    def phrases(self) -> PhrasesT:
        """Holes of core sentences, as the parts fill them in turn."""
        phrases = self.plain_phrases
        for part in self._ranked:
            phrases = part.reworded(phrases)
        return phrases

    @cached_property
    def _statements(self) -> Mapping[str, Sequence[Any]]:
        return self._by_name(part.statements(self.phrases) for part in self.parts)

    @cached_property
    def _exhibits(self) -> Mapping[str, Sequence[Any]]:
        return self._by_name(part.exhibits(self.phrases) for part in self.parts)

    def _by_name(self, parts: Iterable[Iterator[Statement]]) -> Mapping[str, Sequence[Any]]:
        """Collect the bodies of each statement of the table; others are KeyErrors."""
        said: dict[str, list[Any]] = {name: [] for name in self.layout.places}
        for statements in parts:
            for name, body in statements:
                said[name].append(body)
        return said

    def said(self, slot: StrEnum) -> list[Any]:
        """Return what stands in a slot, in the order of the table; of one statement, in that of the parts."""
        return self._in_slot(slot, self._statements)

    def first(self, slot: StrEnum, otherwise: Any = "") -> Any:
        """Return what an exclusive slot shows, or a default if it is empty."""
        return next(iter(self.said(slot)), otherwise)

    def shown(self, slot: StrEnum) -> list[Any]:
        """Return the tables or figures of a slot, in the order of the table."""
        return self._in_slot(slot, self._exhibits)

    def says(self, name: str) -> list[Any]:
        """Return the bodies of one statement; empty where it is not said."""
        return [*self._statements[name]] if self.layout.places[name].is_open(self.facts) else []

    def _in_slot(self, slot: StrEnum, said: Mapping[str, Sequence[Any]]) -> list[Any]:
        return [
            body
            for name, its_place in self.layout.places.items()
            if its_place.slot is slot and its_place.is_open(self.facts)
            for body in said[name]
        ]

    def metrics(self) -> dict[str, Any]:
        """Return the metrics by key, in the order of the table."""
        merged = joined(part.metrics(self.phrases) for part in self._ranked)
        for name, fact in self.layout.known_if.items():
            if fact not in self.facts:
                merged[name] = None
        return {name: merged[name] for name in self.layout.metrics if name in merged}

    def payload(self, **of_report: Any) -> dict[str, Any]:
        """Return the keys of the JSON form, with those of the report itself, in the order of the table."""
        merged = joined([*(part.payload(self.phrases) for part in self._ranked), of_report])
        return {key: merged[key] for key in self.layout.keys if key in merged}

    def saved(self) -> dict[str, Any]:
        """Return the fields of the rule file."""
        return joined(part.saved() for part in self._ranked)


def joined(mappings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Join mappings: a later value replaces an earlier one, but mappings in mappings are also joined.

    Examples
    --------
    >>> joined([{"a": 1, "b": {"c": 2}}, {"a": 3, "b": {"d": 4}}])
    {'a': 3, 'b': {'c': 2, 'd': 4}}
    """
    result: dict[str, Any] = {}
    for mapping in mappings:
        for key, value in mapping.items():
            before = result.get(key)
            if isinstance(before, Mapping) and isinstance(value, Mapping):
                result[key] = joined([before, value])
            else:
                result[key] = value
    return result
