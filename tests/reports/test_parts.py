"""Tests of reports that are lists of parts: facts, phrases, places, and what is joined."""

from dataclasses import replace
from enum import StrEnum, auto

import pytest

from uqcli.base.records import dataclass
from uqcli.reports.parts import Composition, Layout, Part, Place, Remarks


class Fact(StrEnum):
    ALONE = auto()
    KNOWN = auto()


class Slot(StrEnum):
    TITLE = auto()
    NOTE = auto()
    TABLE = auto()


@dataclass(frozen=True, kw_only=True)
class Phrases:
    where: str = "here"


@dataclass(frozen=True, kw_only=True)
class Core(Part[Phrases]):
    def statements(self, phrases):
        yield "second", f"said {phrases.where}"
        yield "first", "said"

    def exhibits(self, phrases):
        yield "table", [phrases.where]

    def metrics(self, phrases):
        return {"rate": 0.5, "rows": 3, "expected": {"low": 1, "high": 2}}

    def saved(self):
        return {"fit": {"rows": 3}, "kind": "rule"}


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Part[Phrases]):
    rank = 1

    def voids(self):
        return (Fact.ALONE,)

    def reworded(self, phrases):
        return replace(phrases, where=f"{phrases.where} and there")


@dataclass(frozen=True, kw_only=True)
class Moved(Part[Phrases]):
    def reworded(self, phrases):
        return replace(phrases, where=f"not {phrases.where}")


LAYOUT = Layout(
    facts=frozenset(Fact),
    places={
        "first": Place(Slot.NOTE, frozenset({Fact.ALONE})),
        "beside": Place(Slot.NOTE, unless=frozenset({Fact.ALONE})),
        "second": Place(Slot.NOTE),
        "table": Place(Slot.TABLE),
    },
    metrics=("rows", "rate", "expected"),
    keys=("b", "a"),
    known_if={"rate": Fact.KNOWN},
)


def told(*parts):
    return Composition(layout=LAYOUT, parts=parts, plain_phrases=Phrases())


def test_statements_stand_in_the_order_of_the_table_wherever_facts_allow():
    assert told(Core()).said(Slot.NOTE) == ["said", "said here"]
    assert told(Core(), Elsewhere()).said(Slot.NOTE) == ["said here and there"]
    beside = Remarks(said=[("beside", "one"), ("beside", "two")])
    assert told(beside, Core()).said(Slot.NOTE) == ["said", "said here"]
    assert told(beside, Core(), Elsewhere()).said(Slot.NOTE) == ["one", "two", "said here and there"]
    assert told(Core()).says("first") == ["said"]
    assert not told(Core(), Elsewhere()).says("first")
    assert not told(Core()).said(Slot.TITLE)


def test_parts_of_higher_rank_have_the_last_word_in_whatever_order_they_are_given():
    core, elsewhere, moved = Core(), Elsewhere(), Moved()
    for parts in ((core, elsewhere, moved), (moved, core, elsewhere), (elsewhere, moved, core)):
        assert told(*parts).phrases.where == "not here and there"
    assert told(Core(), Moved()).shown(Slot.TABLE) == [["not here"]]


def test_mappings_are_joined_and_ordered_and_what_is_unknown_is_null():
    more = Remarks(
        measured={"expected": {"share": 4}},
        keys={"a": 1, "b": 2},
        fields={"fit": {"value": 1}, "kind": "other"},
        voided=[Fact.KNOWN],
    )
    story = told(Core(), more)
    assert list(story.metrics().items()) == [
        ("rows", 3),
        ("rate", None),
        ("expected", {"low": 1, "high": 2, "share": 4}),
    ]
    assert list(story.payload().items()) == [("b", 2), ("a", 1)]
    assert story.saved() == {"fit": {"rows": 3, "value": 1}, "kind": "other"}
    assert told(Core()).metrics()["rate"] == 0.5


def test_a_statement_without_a_place_is_an_error():
    with pytest.raises(KeyError, match="nowhere"):
        told(Remarks(said=[("nowhere", "said")])).said(Slot.NOTE)
