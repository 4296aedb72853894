"""What can be measured of rows that depend on each other, or do not count alike: said in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CLUSTERS: Final = "--cluster or --day"
WEIGHTS: Final = "--sampling-weight"
PART: Final = "labels for some rows"
SHIFT: Final = "--shift"

DESIGNS: Final = (CLUSTERS, WEIGHTS, f"{CLUSTERS} and {WEIGHTS}", PART, SHIFT)
"""How rows were drawn."""

RATES: Final = "rates and zones"
GROUPS: Final = "groups (--by)"
AUDIT: Final = "segments (--audit)"
VALUE: Final = "value (--gain, --cost)"
BENEFIT: Final = "net benefit"
DIFFERENCE: Final = "difference of two boundaries"
CALIBRATORS: Final = "calibrators"
SETS: Final = "prediction sets"
ERRORS: Final = "`tce`"

SUBJECTS: Final = (RATES, GROUPS, AUDIT, VALUE, BENEFIT, DIFFERENCE, CALIBRATORS, SETS, ERRORS)
"""What is measured."""

_ALIKE: Final = "tests of many segments at once need rows that count alike"
_OWN_DATA: Final = "segments are those of the rule's own data"
NO_RESAMPLES: Final = "resamples draw rows that count alike"
"""Why metrics with sampling weights have no intervals."""

REFUSED: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        (WEIGHTS, AUDIT): _ALIKE,
        (WEIGHTS, SETS): "the guarantee of a set is about rows drawn alike",
        (WEIGHTS, SHIFT): "both would weigh the same rows",
        (CLUSTERS, SHIFT): "the draws of the class weights take rows as independent",
        (f"{CLUSTERS} and {WEIGHTS}", CALIBRATORS): "resamples of clusters do not carry weights",
        (f"{CLUSTERS} and {WEIGHTS}", ERRORS): "tests over clusters need rows that count alike",
        (SHIFT, AUDIT): _OWN_DATA,
        (SHIFT, CALIBRATORS): "their errors are those of the rows at hand",
        (SHIFT, ERRORS): "`tce` measures the rows at hand",
    }
)
"""Why a design cannot be combined with a subject, or with another design."""

NOTES: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        (CLUSTERS, RATES): "interval over clusters",
        (CLUSTERS, GROUPS): "interval and test over the clusters of a group",
        (CLUSTERS, AUDIT): "test over the clusters of a segment; not of calibrators",
        (CLUSTERS, VALUE): "a cluster's sum is one amount",
        (CLUSTERS, BENEFIT): "interval over clusters, from 20 of them",
        (CLUSTERS, DIFFERENCE): "linearised over clusters",
        (CLUSTERS, CALIBRATORS): "clusters are resampled (--bootstrap)",
        (CLUSTERS, SETS): "interval over clusters",
        (CLUSTERS, ERRORS): "one row of each cluster, or its signs",
        (WEIGHTS, RATES): "interval by weight",
        (WEIGHTS, GROUPS): "interval and test by weight",
        (WEIGHTS, VALUE): "each amount times its weight",
        (WEIGHTS, BENEFIT): "interval by weight",
        (WEIGHTS, DIFFERENCE): "linearised over rows",
        (WEIGHTS, CALIBRATORS): "metrics without intervals and tests",
        (WEIGHTS, ERRORS): "metrics by weight; no tests and intervals",
        (f"{CLUSTERS} and {WEIGHTS}", RATES): "interval over clusters, by weight",
        (f"{CLUSTERS} and {WEIGHTS}", GROUPS): "the same within a group",
        (f"{CLUSTERS} and {WEIGHTS}", VALUE): "a cluster's weighted sum is one amount",
        (f"{CLUSTERS} and {WEIGHTS}", BENEFIT): "interval over clusters, by weight",
        (f"{CLUSTERS} and {WEIGHTS}", DIFFERENCE): "linearised over clusters, by weight",
        (PART, RATES): "labelled rows are weighted for all (section on missing labels)",
        (PART, GROUPS): "as for all rows; a target is tested for precision only",
        (PART, AUDIT): "precision only, on labelled rows",
        (PART, VALUE): "of labelled rows; no share of the gain",
        (PART, BENEFIT): "labelled rows are weighted for all",
        (PART, DIFFERENCE): "where all decisions of both rules have labels",
        (PART, CALIBRATORS): "labelled rows only",
        (PART, SETS): "labelled rows only",
        (PART, ERRORS): "labelled rows only",
        (SHIFT, RATES): "precision among target data, with the error of the class weights",
        (SHIFT, GROUPS): "figures, but no test of a target",
        (SHIFT, VALUE): "of the rows at hand",
        (SHIFT, BENEFIT): "none: the odds are about the class priors of the target data",
        (SHIFT, DIFFERENCE): "of the rows at hand",
        (SHIFT, SETS): "coverage in target data, with the error of the class weights",
    }
)
"""What is printed where a design and a subject go together."""


def reason(design: str, subject: str) -> str:
    """Return why a design and a subject (or a second design) do not go together; empty if they do."""
    parts = (design, *((CLUSTERS, WEIGHTS) if " and " in design else ()))
    return next((REFUSED[part, subject] for part in parts if (part, subject) in REFUSED), "")
