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
    "nested.NestedRules": ("nested",),
    "raised_scores.RaisedScores": ("recalibration",),
    "worth.Worth": ("fit.value", "fit.value_caught"),
    "review.Review": ("review_thresholds", "parameters.review", "fit.reviewed", "fit.caught"),
    "target.Target": ("target", "margin"),
    "reference.Reference": ("reference", "dependence", "parameters.cluster", "parameters.day"),
    "expected.Expected": ("expected", "fit.all_rows", "fit.all_selected"),
    "groups.GroupRules": ("groups", "parameters.by", "parameters.bound", "parameters.min_group"),
    "groups.ClassRules": ("classes",),
    "certificate.Certificate": ("certificate", "groups.certificate"),
    "capacity.FirstRows": ("capacity",),
}
"""Keys of the file by part; of deciders and of words for one hole, the last one counts."""


def parts_of(rule: SavedBoundary) -> list[RulePart]:
    """Return the thresholds of a rule, and the parts of which its file has keys."""
    parts: list[RulePart] = [Decider(rule=rule)]
    keys = rule.optional_keys()
    for place, owned in PARTS.items():
        if not keys.isdisjoint(owned):
            module, name = place.split(".")
            parts.append(getattr(import_module(f"uqcli.boundary.rule_parts.{module}"), name)(rule=rule))
    return parts


def unowned_keys(rule: SavedBoundary) -> set[str]:
    """Return the keys of a file that no part owns."""
    return rule.optional_keys().difference(*PARTS.values())
