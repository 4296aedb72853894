"""Notices: the cautions of a run, each with the stable name of its kind, and which one matters most.

Where one alone is shown, as on a terminal, it is the weightiest; of equal ones, the first. A weight says what
is at stake: 90 or more, the result may mean nothing; from 70, it may be wrong; from 50, it is vaguer than it
looks; below, something was left unused, or it is so of most results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

KINDS: Final[Mapping[str, tuple[int, str]]] = MappingProxyType(
    {
        "alarm-of-earlier-version": (98, "an alarm stands whose evidence is computed in another way now"),
        "edited-rule": (97, "a rule file was edited, or has no digest"),
        "one-class": (95, "all rows have the same label"),
        "reversed-score": (94, "low scores are more often positive than high ones"),
        "no-positive": (93, "the rule's positive label does not occur"),
        "no-trials": (93, "no row of the batches counts for a target"),
        "same-rows": (92, "the rule seems to be tested on its calibration rows"),
        "few-alerts": (91, "too few rows are flagged to know the precision"),
        "not-a-mixture": (91, "the new rows are no mixture of the labelled classes"),
        "every-class": (90, "every prediction set holds every class"),
        "grids-twice": (85, "merged grids count rows twice"),
        "shared-rows": (85, "several inputs hold the same rows"),
        "unequal-sampling": (85, "the rows were drawn with different probabilities, which is not used"),
        "broken-promise": (84, "the rows contradict what the rule file states"),
        "dependent-rows": (82, "flagged rows of one day or customer are alike"),
        "rows-left-out": (81, "a tenth of the rows or more were left out"),
        "label-placeholder": (80, "a label that counts as negative may mean a missing one"),
        "unclear-weights": (80, "weights do not look like numbers of rows"),
        "ill-conditioned": (80, "class weights are unreliable"),
        "unusual-alerts": (78, "the share of flagged rows is not that of the calibration set"),
        "outside-range": (77, "rows are outside the range of the calibration set"),
        "forgotten-cluster": (76, "rows are taken as independent, unlike those of the rule"),
        "absent-class": (75, "a class has no row"),
        "low-sampling-weights": (75, "sampling weights are below 1"),
        "always-in-set": (74, "some classes are in every prediction set"),
        "certificate-unlikely": (73, "a certificate is unlikely"),
        "replaced-column": (72, "an option replaces a column of the rule"),
        "unknown-rate": (71, "a rate is unknown"),
        "several-certificates": (71, "each rule is certified by itself, and the best of them is not"),
        "pilot-unchecked": (70, "rows of the pilot may be among those that test"),
        "stray-days": (75, "some dates are far from the others, with few rows, as mistyped dates are"),
        "missing-days": (71, "days of the calendar between days with rows have none"),
        "counted-before": (70, "a batch was counted before"),
        "few-clusters": (66, "an interval rests on few clusters, or is missing for lack of them"),
        "groups-without-rule": (65, "the rule flags nothing in some groups"),
        "certain-misses": (64, "rows with a score of 0 or 1 have the other label"),
        "few-target-rows": (65, "too few unlabelled rows for intervals"),
        "heavy-tails": (62, "a few large amounts decide a value"),
        "unreliable-interval": (61, "an interval is unreliable"),
        "unlabelled-rows": (60, "rows without a label were left out"),
        "periods-without-rule": (63, "no rule was found for some periods of a history"),
        "risk-as-confidence": (60, "a risk may have been typed as a confidence"),
        "count-as-share": (60, "a limit of alerts may have been meant as a share"),
        "unknown-groups": (60, "rows belong to groups or categories that the rule does not know"),
        "undecided-rows": (59, "rows have a missing value, and so no result"),
        "other-server": (59, "the Spark server is of another maker"),
        "unused-configuration": (59, "a configuration or a variable has no effect"),
        "remaining-error": (58, "many probabilities are still wrong after calibration"),
        "drawn-from-unlabelled": (58, "drawn rows stand for unlabelled rows only"),
        "best-of-several": (57, "the best of several rules looks better than it is"),
        "alike-labels": (55, "bins of equal labels are rejected whatever their scores"),
        "uncalibrated": (55, "scores are taken as calibrated, or the calibration leaves an error"),
        "clipped-weights": (54, "negative class weights were set to 0"),
        "failed-draws": (53, "some draws had no estimate"),
        "drift-untested": (53, "drift was not tested"),
        "nothing-expected": (53, "no precision can be expected"),
        "few-positives": (52, "few rows of a class, so that tests miss errors"),
        "alike-days": (52, "each day or batch resembles the one before"),
        "other-columns": (52, "two rules read different columns"),
        "scores-at-the-time": (52, "a history is only as good as the scores that were given in it"),
        "ties-at-the-cut": (51, "rows rank as the last flagged one, and are not flagged"),
        "near-thresholds": (51, "rows are within one 32-bit unit of a threshold"),
        "single-threshold": (50, "a single threshold reaches more"),
        "other-direction": (50, "the uncertainty with the other sign reaches more"),
        "inexact-sums": (49, "class probabilities do not sum to 1"),
        "certain-probabilities": (48, "some probabilities are exactly 0 or 1"),
        "empty-bins": (47, "the calibration set has no row in some bins"),
        "repeated-rows": (46, "most rows repeat the score and the uncertainty of another"),
        "tested-elsewhere": (45, "groups are tested for one of several bounds, or on labelled rows"),
        "groups-untested": (44, "some groups are not tested"),
        "unlike-sizes": (43, "bins are larger than was asked for"),
        "region-of-certificate": (42, "the certificate is for the highest scores only"),
        "young-rows": (41, "rows of days that have not matured are not counted"),
        "unwatched-rows": (41, "rows are of groups without a target"),
        "evidence-of-earlier-version": (40, "a state was begun when evidence was computed in another way"),
        "unused-labels": (40, "labels belong to no row, or to several"),
        "same-file": (40, "a file is named twice, or a folder leads back, and is read once"),
        "outputs-in-table": (40, "a query may return two columns of a name"),
        "null-in-json": (40, "numbers that are not finite were written as null"),
        "replaced-batch": (39, "a batch replaces one that was counted before"),
        "often-missed": (36, "new data may miss the target"),
        "limit-exceeded": (36, "new data may have more alerts than the limit"),
        "doubt": (35, "a rule file was made with a doubt"),
        "rounding": (30, "numpy rounds otherwise than on other machines"),
    }
)
"""Weight and meaning of each kind of notice."""


class Notice(str):
    """A sentence of caution. As a text it is like any other."""

    __slots__ = ("key",)

    key: str

    def __new__(cls, key: str, text: str) -> Notice:
        """Create the notice of a kind."""
        made = super().__new__(cls, text)
        made.key = key
        return made

    def __reduce__(self) -> tuple[type[Notice], tuple[str, str]]:
        """Return what a copy or a pickle is made from."""
        return Notice, (self.key, str(self))

    @property
    def weight(self) -> int:
        """How much is at stake."""
        return KINDS[self.key][0]

    def changed(self, change: Callable[[str], str]) -> Notice:
        """Return the same notice in other words."""
        return Notice(self.key, change(self))

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"key": self.key, "text": str(self), "weight": self.weight}


def weightiest_first(notices: Iterable[Notice]) -> list[Notice]:
    """Return notices by weight; of equal ones, those that came first."""
    return sorted(notices, key=lambda notice: -notice.weight)
