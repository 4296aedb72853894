"""Leaves of a partition by features, each with a map of the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from uqcli.base.escaping import printable
from uqcli.base.wording import count, share
from uqcli.calibrate.maps.base import Count
from uqcli.calibrate.maps.contradictions import first
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.questions import FeatureColumn
from uqcli.reports.document import Table
from uqcli.rules.expressions import Column

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, Ints
    from uqcli.calibrate.scale import Scale

_MAX_ROWS = 40


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the rows and its calibration.

    Attributes
    ----------
    rule
        Condition on the features, in words.
    rows, positives
        Rows of the leaf among those it was calibrated on.
    own
        Whether the map was fitted to the leaf's own rows; if not, to those of a larger part.
    """

    rule: str
    rows: Count
    positives: Count
    own: bool
    calibration: ScoreMap


def contradiction_in_features(features: Sequence[FeatureColumn]) -> str | None:
    """Find the first contradiction among the feature columns of a map, or None."""
    if len({feature.name for feature in features}) < len(features):
        return "a feature is named twice"
    if any(len(set(feature.levels or ())) < len(feature.levels or ()) for feature in features):
        return "a level is named twice"
    return None


def contradiction_in_leaves(leaves: Sequence[Leaf]) -> str | None:
    """Find the first contradiction among the maps of the leaves, or None."""
    return first(leaf.calibration.contradiction() for leaf in leaves)


def text_column(feature: FeatureColumn) -> Column:
    """Return the column of a categorical feature."""
    return Column(name=feature.name, kind="text")


def terms_of_leaves(leaves: Sequence[Leaf]) -> tuple[float, float]:
    """Bound the terms of the log-odds of all leaves (see ``BaseRowMap.terms``)."""
    constants, factors = zip(*(leaf.calibration.terms for leaf in leaves), strict=True)
    return max(constants), max(factors)


def names_of_leaves(leaves: Sequence[Leaf]) -> tuple[str, ...]:
    """Describe each leaf by number and condition."""
    return tuple(f"leaf {leaf_index}: {leaf.rule}" for leaf_index, leaf in enumerate(leaves))


def leaves_table(title: str, leaves: Sequence[Leaf]) -> Table:
    """Tabulate at most 40 leaves."""
    rows = [
        (
            str(index),
            printable(leaf.rule, 160),
            leaf.calibration.formula(),
            count(leaf.rows),
            share(leaf.positives / leaf.rows if leaf.rows else None),
            "own" if leaf.own else "larger part",
        )
        for index, leaf in enumerate(leaves[:_MAX_ROWS])
    ]
    if len(leaves) > _MAX_ROWS:
        rows.append(("...", f"and {len(leaves) - _MAX_ROWS} more", "", "", "", ""))
    header = ("leaf", "rows where", "calibration", "rows", "positive rate", "fitted on")
    return Table(title=title, header=header, rows=rows, left=3)


def calibrated_in_leaves(leaves: Sequence[Leaf], leaf: Ints, corrected: Floats, scale: Scale) -> Floats:
    """Compute the probability of each row by the map of its leaf."""
    import numpy as np

    result = np.empty(len(corrected))
    for leaf_index, fitted in enumerate(leaves):
        inside = leaf == leaf_index
        if inside.any():
            result[inside] = fitted.calibration.probability(corrected[inside], scale)
    return result
