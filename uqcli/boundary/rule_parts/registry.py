"""The parts of a boundary's rule by the keys of its file. This module alone names all of them.

A part is imported once a file has one of its keys. A key that no part owns is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from uqcli.boundary.rule_file import SavedBoundary
from uqcli.boundary.rule_part import Decider, RulePart

PARTS: Final[Mapping[str, Sequence[str]]] = {
    "nested": ("nested",),
    "raised_scores": ("recalibration",),
    "worth": ("fit.value", "fit.value_caught"),
    "review": ("review_thresholds", "parameters.review", "fit.reviewed", "fit.caught"),
    "target": ("target", "margin"),
    "reference": ("reference", "dependence", "parameters.cluster", "parameters.day"),
    "expected": ("expected", "fit.all_rows", "fit.all_selected"),
    "groups": ("groups", "parameters.by", "parameters.bound", "parameters.min_group", "classes"),
    "certificate": ("certificate", "groups.certificate"),
}
"""Keys of the file by the module of their part; of deciders and of what is said, the last one counts."""


def parts_of(rule: SavedBoundary) -> list[RulePart]:
    """Return the thresholds of a rule, and the parts of which its file has keys."""
    present = rule.optional_keys()
    names = [name for name, keys in PARTS.items() if not present.isdisjoint(keys)]
    modules = [import_module(f"uqcli.boundary.rule_parts.{name}") for name in names]
    return [Decider(rule=rule), *(module.PART(rule=rule) for module in modules)]


def unowned_keys(rule: SavedBoundary) -> set[str]:
    """Return the keys of a file that no part owns."""
    return rule.optional_keys().difference(*PARTS.values())
