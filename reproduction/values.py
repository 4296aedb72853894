"""Published values of the papers."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("values.toml")


@dataclass(frozen=True, kw_only=True)
class PublishedRow:
    """A row of a table: its settings and its values."""

    label: str
    settings: dict[str, Any]
    published: list[float]


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A table of the calibration paper.

    Attributes
    ----------
    reason
        Which test the paper's program computes instead of uqcli's; empty if the same.
    """

    key: str
    study: str
    name: str
    where: str
    title: str
    columns: list[str]
    note: str
    reason: str
    rows: list[PublishedRow]


def read() -> dict[str, Any]:
    """Read the whole file."""
    with FILE.open("rb") as file:
        return tomllib.load(file)


def tables_of(study: str) -> list[PublishedTable]:
    """List the tables that a study reproduces."""
    return [_table(table) for table in read()["table"] if table["study"] == study]


def _table(raw: dict[str, Any]) -> PublishedTable:
    rows = [
        PublishedRow(
            label=row["label"],
            published=[float(value) for value in row["theirs"]],
            settings={name: value for name, value in row.items() if name not in ("label", "theirs")},
        )
        for row in raw["rows"]
    ]
    rest = {name: raw.get(name, "") for name in ("key", "study", "name", "where", "title", "note", "reason")}
    return PublishedTable(columns=raw["columns"], rows=rows, **rest)
