"""Parts of the result of ``uqcli shift``: the files, the two tests, and the weights or why there are none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from uqcli.base.choices import ShiftEstimator
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, p_text, printable
from uqcli.estimates.estimate import UNKNOWN, Estimate, ends_of
from uqcli.estimates.resampling import MIN_CLASS_ROWS
from uqcli.reports.document import KeyNumber, MetricValue, Verdict
from uqcli.reports.parts import Statement
from uqcli.rules.saved import given
from uqcli.shift.estimators import ClassWeights, SolvedWeights
from uqcli.shift.figure import ClassShare, shares_figure
from uqcli.shift.mixture import MixtureTest
from uqcli.shift.report import Fact, Remark
from uqcli.shift.rule import ShiftArtifact, ShiftParameters

_LEVEL: Final = 0.05
_MAX_CALIBRATION_ERROR: Final = 0.05
_MAX_NAMED: Final = 20
_MAX_CONDITION: Final = 100

ESTIMATORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ShiftEstimator.BBSE: "from predicted classes, corrected for the mistakes seen on the labelled rows",
        ShiftEstimator.EM: "by maximum likelihood, from probabilities that it calibrates",
        ShiftEstimator.KNOWN: "as given",
    }
)
"""Estimators in words."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Labelled rows and new rows that are compared, by weight.

    ``source_shares`` are the priors in the source data, with their exact intervals. ``calibration`` is the
    mean over the classes of the ECE on the source data; for EM of its calibrated probabilities, each from
    labelled rows without that row. ``confidence`` is that of all intervals.
    """

    rows: int
    target_rows: int
    classes: Sequence[str]
    source_shares: Sequence[Estimate]
    parameters: ShiftParameters
    calibration: float
    confidence: float

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return "clusters" if given(self.parameters.day) is None else "days"

    @property
    def is_small(self) -> bool:
        """Whether the new rows are too few for intervals."""
        return self.target_rows < MIN_CLASS_ROWS * len(self.classes)

    @property
    def undefined(self) -> dict[str, None]:
        """Null for each class."""
        return dict.fromkeys(self.classes)

    def shares(self, targets: Sequence[Estimate]) -> list[ClassShare]:
        """Return the priors of each class in source and target data."""
        return list(zip(self.classes, self.source_shares, targets, strict=True))

    def part(self) -> Remark:
        """Return the part of the files and of the estimator, with null for what others may know."""
        labelled, new = count(self.rows), count(self.target_rows)
        files = f"{{inputs}}: {labelled} labelled rows compared with {new} unlabelled target rows."
        estimator = self.parameters.estimator
        said: list[Statement] = [("files", files), ("files-apart", files)]
        said.append(("estimator", f"{estimator}: {ESTIMATORS[estimator]}."))
        if estimator is ShiftEstimator.EM:
            scaling = "Platt" if len(self.classes) == 2 else "vector"
            calibrated = f"EM calibrated the probabilities on the labelled rows first ({scaling} scaling)."
            said.append(("estimator", calibrated))
        if estimator is ShiftEstimator.EM and self.calibration > _MAX_CALIBRATION_ERROR:
            left = f"EM's calibration leaves an ECE of {self.calibration:.3g} on the labelled rows"
            said.append(("uncalibrated", Notice("uncalibrated", f"{left}: try --estimator bbse.")))
        if self.target_rows and self.is_small:
            few = (
                f"there are fewer than {MIN_CLASS_ROWS} unlabelled rows for each class, too few for "
                "intervals: use more of them."
            )
            said.append(("few-target-rows", Notice("few-target-rows", few)))
        untested = dict.fromkeys(("shift_p", "mixture_p", "smallest_singular", "condition"))
        shares = self.shares([UNKNOWN] * len(self.classes))
        return Remark(
            said=said,
            voided=() if self.target_rows else (Fact.TARGET_ROWS,),
            measured={
                **untested,
                "calibration_error": self.calibration,
                **dict.fromkeys(("weights", "weights_p", "target_prior"), self.undefined),
                "class_shares": _by_class(shares),
            },
            keys={"target": {"rows": self.target_rows}, "changed": None},
        )


def _by_class(shares: Sequence[ClassShare]) -> dict[str, dict[str, Estimate]]:
    return {name: {"source": source, "target": target} for name, source, target in shares}


def frequencies(files: Files, test: MixtureTest) -> Remark:
    """Return the part of the test whether the predicted classes are as frequent in the new rows."""
    if not test.has_answer:
        untested = f"Whether the classes differ in frequency was not tested: {test.reason}."
        return Remark(said=[("frequencies", untested)])
    tested = f"{p_text(test.p_value)}, {name_of_test(files, test)}"
    differ = "differ" if differs(test) else "do not differ significantly"
    title = "The classes differ in frequency between the files"
    verdict = "significant difference"
    if not differs(test):
        title, verdict = "No significant change in how frequent the classes are", f"no {verdict}"
    return Remark(
        said=[
            ("frequencies", f"{title} ({tested})."),
            ("predicted-classes", f"Predicted classes {differ} ({tested})."),
            ("difference", Verdict(text=verdict)),
        ],
        measured={"shift_p": test.p_value},
    )


def differs(test: MixtureTest) -> bool:
    """Whether the predicted classes differ significantly."""
    return test.rejects_at(_LEVEL)


def name_of_test(files: Files, test: MixtureTest) -> str:
    """Name the test of equal predicted classes."""
    return f"test between {files.units}" if test.units else "G-test"


def mixture(files: Files, test: MixtureTest) -> Remark:
    """Return the part of the test of label shift: what it takes for granted, and what it cannot see."""
    if not test.has_answer:
        untested = f"Whether only class priors changed was not tested: {test.reason}."
        return Remark(said=[("mixture-untested", untested), ("no-mixture-test", untested)])
    taken = (
        "The test assumes that rows are independent: if they are not, name the column of their days or "
        "customers (--day, --cluster)."
    )
    if test.units:
        more = f"({count(test.units)} {files.units} or more in each file)"
        taken = f"It takes the rows of {files.units} as dependent {more}."
    p_value = p_text(test.p_value)
    tested = "The assumption that the new rows are a mixture of the labelled classes was tested"
    misses = (
        "The test can miss a change within a class that looks like a mixture of the old classes, such as "
        "positives that now score lower."
    )
    said: list[Statement] = [("about-mixture", f"{tested}: {p_value}. {taken}"), ("about-mixture", misses)]
    if not test.rejects:
        return Remark(said=said, measured={"mixture_p": test.p_value})
    caution = (
        f"the new rows are not a mixture of the labelled classes ({p_value}), so do not rely on the weights: "
        "label some of the new rows to see what changed."
    )
    title = "More changed than how frequent the classes are: the new rows are not a mixture of the labelled"
    said += [
        ("no-mixture", f"{title} classes ({p_value})."),
        ("not-a-mixture", Notice("not-a-mixture", caution)),
        ("no-label-shift", Verdict(text="not a label shift", tone="bad")),
        ("label-rows", "Label some of the new rows: more than class priors changed."),
    ]
    return Remark(said=said, voided=[Fact.MIXTURE], measured={"mixture_p": test.p_value})


def unweighted(failure: str) -> Remark:
    """Return the part of a failure to estimate weights."""
    sentence = f"No class weights: {failure}."
    failed = Verdict(text="failed", tone="bad")
    return Remark(
        said=[("failure", sentence), ("no-weights", sentence), ("failed", failed)],
        voided=[Fact.WEIGHTED, Fact.TEST_IN_TITLE],
    )


def failed_draws(files: Files, failed: int, *, has_intervals: bool) -> list[Remark]:
    """Return the part of draws without an estimate; none if all have one."""
    if not failed:
        return []
    ends = "the intervals leave them out." if has_intervals else "there are no intervals."
    caution = f"{failed} of {files.parameters.bootstrap} draws had no estimate, so {ends}"
    return [Remark(said=[("failed-draws", Notice("failed-draws", caution))])]


def weighted(files: Files, artifact: ShiftArtifact, weights: ClassWeights, test: MixtureTest) -> list[Remark]:
    """Return the parts of class weights; the test is that of equal frequencies."""
    shares = files.shares(artifact.target_shares())
    assumption = "The weights assume that only class frequencies changed; label some target rows to check."
    said: list[Statement] = [
        ("meaning", "A weight above 1 means that the class is more frequent in the target data."),
        ("meaning", assumption),
        ("given-prior", _by_the_prior(artifact)),
        ("evaluate", "evaluate RULE.json TEST.csv --shift {rule}"),
        *(("frequency", number) for number in _numbers(artifact)),
    ]
    if test.has_answer and not differs(test):
        said.append(("no-change", _action(files, shares)))
    if artifact.interval is not None:
        said += [("intervals", sentence) for sentence in _about_intervals(files)]
    priors = dict(zip(artifact.classes, artifact.target_prior, strict=True))
    measured: dict[str, MetricValue] = {
        "weights": artifact.estimates(),
        "weights_p": artifact.p_values(),
        "target_prior": priors,
        "class_shares": _by_class(shares),
    }
    shown = _Shown(files=files, artifact=artifact, shares=shares, said=said, measured=measured)
    return [shown, *_changed(files, artifact, test), *_reliability(artifact, weights)]


@dataclass(frozen=True, kw_only=True)
class _Shown(Remark):
    """Class weights, with their table and figure."""

    files: Files
    artifact: ShiftArtifact
    shares: Sequence[ClassShare]

    def exhibits(self, phrases: None) -> Iterator[Statement]:
        yield "weights", self.artifact.table(self.files.source_shares)
        yield "priors", shares_figure(self.shares, self.files.confidence)


def _by_the_prior(artifact: ShiftArtifact) -> str:
    """State what a given prior says without rows."""
    weights = dict(zip(artifact.classes, artifact.weights, strict=True))
    name = max(weights, key=lambda name: abs(weights[name] - 1))
    times = _times(weights[name])
    return f"By the given prior, class {printable(name, 30)} is {times} as in the labelled rows."


def _numbers(artifact: ShiftArtifact) -> list[KeyNumber]:
    """Return the weights that are farthest from 1, for the head of a page."""
    known = [
        (name, weight)
        for name, weight in artifact.estimates().items()
        if isinstance(weight, Estimate) and weight.value is not None
    ]
    farthest = sorted(known, key=lambda pair: -abs(math.log(max(pair[1].value or 0, 1e-9))))
    return [
        KeyNumber(
            label=f"frequency of class {printable(name, 20)}",
            value=f"x {weight.value:.2f}",
            interval=ends_of(weight, ".2f").strip(" []").replace(", ", " to "),
        )
        for name, weight in farthest[:3]
    ]


def _action(files: Files, shares: Sequence[ClassShare]) -> str:
    """State what to do if no change is significant."""
    if files.is_small or all((target.low, target.high) == (0, 1) for _, _, target in shares):
        return "Use more target rows, or label some: these do not show how frequent the classes are."
    return "Nothing needs to change; label some target rows to be surer."


def _about_intervals(files: Files) -> list[str]:
    """State what the intervals of the weights take for granted."""
    sentences = []
    if given(files.parameters.day) or given(files.parameters.cluster):
        sentences.append(
            f"The {100 * files.confidence:g} % intervals of the weights take rows as independent, so they "
            f"are too narrow if the rows of {files.units} are alike."
        )
    if files.parameters.seed is not None:
        sentences.append(f"The random seed ({files.parameters.seed}) affects the intervals.")
    return sentences


def _changed(files: Files, artifact: ShiftArtifact, test: MixtureTest) -> list[Remark]:
    """Return the part of the classes whose frequency changed significantly, if that was tested.

    There are none unless the predicted classes also differ.
    """
    p_values, distances = artifact.p_values(), _distances(artifact)
    significant = [name for name, p_value in p_values.items() if p_value <= _LEVEL and differs(test)]
    significant.sort(key=lambda name: -distances[name])
    said, voided, keys = list[Statement](), list[Fact](), dict[str, str]()
    if test.has_answer and artifact.interval is not None:
        names = [printable(name) for name in significant]
        listed = ", ".join(names[:_MAX_NAMED]) + (" and more" if len(names) > _MAX_NAMED else "")
        changed = (
            f"Classes that changed significantly (the {name_of_test(files, test)}, then the interval of each "
            f"weight, adjusted for all classes): {listed or 'none'}."
        )
        said.append(("changed-classes", changed))
    for name in significant[:1]:
        weight = dict(zip(artifact.classes, artifact.weights, strict=True))[name]
        rows = f"{count(files.target_rows)} unlabelled rows"
        title = f"Class {printable(name, 30)} is {_times(weight)} in the {rows} as in the labelled ones."
        said.append(("changed-class", title))
        voided.append(Fact.TEST_IN_TITLE)
        keys["changed"] = name
    return [Remark(said=said, voided=voided, keys=keys)]


def _distances(artifact: ShiftArtifact) -> dict[str, float]:
    weights = zip(artifact.classes, artifact.weights, strict=True)
    return {name: abs(weight - 1) for name, weight in weights}


def _reliability(artifact: ShiftArtifact, weights: ClassWeights) -> list[Remark]:
    """Return the part of weights that are unreliable."""
    if not isinstance(weights, SolvedWeights):
        return [Remark(measured=dict.fromkeys(("smallest_singular", "condition")))]
    condition = weights.condition
    number = f"The condition number of the confusion matrix is {condition:.3g}"
    said: list[Statement] = [
        ("condition", f"{number}; the closer it is to 1, the more reliable the weights are.")
    ]
    if condition > _MAX_CONDITION:
        caution = (
            f"the weights are unreliable, since the classifier confuses classes too often (condition "
            f"{condition:.3g}): merge classes, or use a better classifier."
        )
        said.append(("ill-conditioned", Notice("ill-conditioned", caution)))
    if weights.clipped:
        names = ", ".join(artifact.classes[number] for number in weights.clipped[:20])
        caution = (
            f"negative class weights were set to 0 (class {names}): use more labelled rows of these classes."
        )
        said.append(("clipped-weights", Notice("clipped-weights", caution)))
    measured = {"smallest_singular": weights.smallest_singular, "condition": condition}
    return [Remark(said=said, measured=measured)]


_FRACTIONS: Final = {1: "", 2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}


def _times(weight: float) -> str:
    """Describe a class weight in words.

    >>> _times(0.34), _times(2.04), _times(1.004)
    ('a third as frequent', '2 times as frequent', 'as frequent')
    """
    if round(weight, 2) == 1:
        return "as frequent"
    part = _FRACTIONS.get(round(1 / weight)) if weight else None
    if part and abs(weight * round(1 / weight) - 1) < 0.05:
        return f"{part} as frequent"
    return f"{weight:.2g} times as frequent"
