"""Report of ``uqcli evaluate`` on prediction sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, first_of, p_text, percent, printable, rows_of
from uqcli.conformal.rule import ConformalArtifact
from uqcli.estimates.estimate import UNKNOWN, Estimate, interval, unreliable
from uqcli.estimates.survey import few_clusters
from uqcli.evaluate.report import (
    HEADER,
    OWN_DATA_CAUTION,
    UNPAIRED,
    Evaluated,
    EvaluatedPart,
    apply_command,
    points_cell,
)
from uqcli.reports.document import (
    Claim,
    Document,
    Figure,
    HeadCard,
    HoverText,
    KeyNumber,
    Metric,
    Metrics,
    Table,
    Verdict,
    by_key,
    key_rate,
    metric_rows,
)
from uqcli.reports.figures import BLUE, GREY, INK, RED, panels
from uqcli.reports.parts import joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_ROWS = 60
_MAX_BARS = 40


@dataclass(frozen=True, kw_only=True)
class CoverageTest:
    """The guaranteed coverage on a test set, which is not tested, for a reason or for lack of rows.

    The unit of the guarantee is ``class``, ``group``, ``target``, or empty for all rows.
    """

    unit: str
    untested_reason: str = ""

    @property
    def verdict(self) -> str | None:
        """``kept`` or ``broken``; None if it is not tested."""
        return None

    def metrics(self) -> Metrics:
        """Return its metrics by key, without values if it is not tested."""
        return dict.fromkeys(("below", "worst_p", "promise_broken"))

    @property
    def met(self) -> bool | None:
        """Whether it is not rejected; None if it is not tested."""
        return None

    def of_all(self, guarantee: str, measured: SetMetrics) -> str:  # noqa: ARG002
        """State the verdict on all rows together."""
        return f"{guarantee} is not tested: {self.untested_reason}."

    def of_parts(self, guarantee: str, measured: SetMetrics) -> str:  # noqa: ARG002
        """State the verdict on each class or group."""
        return f"{guarantee} is not tested: {self.untested_reason or 'there are no rows'}."

    def of_target(self, guarantee: str, measured: SetMetrics) -> str:
        """State the verdict on target data."""
        if self.untested_reason:
            return f"{guarantee} is not tested: {self.untested_reason}{measured.remedy}."
        covered = f"{percent(measured.in_target.value or 0)} are covered"
        return f"{guarantee} is not tested, as the class weights have no draws; {covered}."


@dataclass(frozen=True, kw_only=True)
class TestedCoverage(CoverageTest):
    """Tests of the guaranteed coverage on a test set.

    P-values are those of one-sided tests of coverage by name, adjusted for all names (Holm). ``below`` are
    the names significantly below the guarantee, the worst first, and ``worst`` is that with the lowest
    p-value. ``classes_below`` are covered significantly less than all rows; they have no guarantee.
    """

    p_values: Mapping[str, float]
    below: tuple[str, ...]
    worst: str
    classes_below: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """See CoverageTest."""
        return "broken" if self.below else "kept"

    @property
    def _worst_p(self) -> float:
        """The lowest p-value."""
        return self.p_values[self.worst]

    def metrics(self) -> Metrics:
        """See CoverageTest."""
        broken = int(bool(self.below))
        return {"below": len(self.below), "worst_p": self._worst_p, "promise_broken": broken}

    @property
    def met(self) -> bool | None:
        """See CoverageTest."""
        return not self.below

    def of_all(self, guarantee: str, measured: SetMetrics) -> str:
        """See CoverageTest."""
        lower = ""
        if names := self.classes_below:
            texts = [f"{printable(name)} ({percent(measured.by_class[name].value or 0)})" for name in names]
            which = "classes" if len(names) > 1 else "class"
            lower = f"; lower in {which} {first_of(texts, 5)}, where nothing is guaranteed"
        return f"{self._word} {guarantee}: {self._covered(measured.coverage)}{lower}."

    def of_parts(self, guarantee: str, measured: SetMetrics) -> str:
        """See CoverageTest."""
        unit = "group" if self.unit == "group" else "class"
        by_name = measured.by_group if self.unit == "group" else measured.by_class
        below = f"{len(self.below)} of {len(self.p_values)} are significantly below"
        worst = f"{unit} {printable(self.worst)}, where {self._covered(by_name[self.worst])}"
        return f"{self._word} {guarantee}: {below}; the worst is {worst}."

    def of_target(self, guarantee: str, measured: SetMetrics) -> str:
        """See CoverageTest."""
        covered = f"{percent(measured.in_target.value or 0)} are covered"
        return f"{self._word} {guarantee}: {covered} ({p_text(self._worst_p)})."

    @property
    def _word(self) -> str:
        """The verdict in words; a test cannot show that a guarantee holds, only that it does not."""
        return "below" if self.below else "consistent with"

    def _covered(self, estimate: Estimate) -> str:
        together = " for all together" if len(self.p_values) > 1 else ""
        share_covered = percent(estimate.value or 0)
        return f"{share_covered} of the sets contain the true class ({p_text(self._worst_p)}{together})"


@dataclass(frozen=True, kw_only=True)
class SetMetrics:
    """Coverage and sizes of prediction sets on a test set.

    The coverage is the share of rows whose set contains the true class: of all rows, by class, by size of the
    set, and by group. ``empty`` is the share of rows with an empty set, and ``sizes`` has the rows by size of
    their set. There is a number of clusters if rows depend on each other, and then rows count as a share of
    independent ones. ``is_calibration_set`` says that each class has as many rows as in the calibration set.
    """

    coverage: Estimate
    mean_set_size: float
    empty: float
    by_class: Mapping[str, Estimate]
    by_size: Mapping[str, Estimate]
    by_group: Mapping[str, Estimate]
    sizes: Mapping[str, int]
    rows: int
    test: CoverageTest
    clusters: Sequence[int] = ()
    independent_share: float = 1.0
    is_calibration_set: bool = False

    remedy: ClassVar[str] = "; give class weights with --shift"
    """What to do if the coverage of target data is not tested."""

    @property
    def refuted(self) -> str:
        """Why nothing is known of target data; empty if nothing is against the class weights."""
        return ""

    def shown(self) -> list[Metric]:
        """Return the metrics that are rows of the table."""
        return [
            Metric("coverage", "coverage", self.coverage, interval),
            Metric("mean_set_size", "mean set size", self.mean_set_size, _mean_size),
            Metric("empty", "empty sets", self.empty, percent),
        ]

    def shown_of_target(self) -> list[Metric]:
        """Return those of the target data; none without class weights."""
        return []

    @property
    def in_target(self) -> Estimate:
        """Coverage of target data, if these rows are not weighted to it."""
        return self.coverage

    def metrics(self) -> Metrics:
        """Return the metrics by key."""
        of_target = self.shown_of_target()
        return {
            **by_key(self.shown()),
            "rows": self.rows,
            **self.test.metrics(),
            "coverage_by_class": self.by_class,
            "coverage_by_size": self.by_size,
            "set_sizes": self.sizes,
            **dict(zip(("clusters",), self.clusters, strict=False)),
            **({"coverage_by_group": self.by_group} if self.by_group else {}),
            **({"target": by_key(of_target)} if of_target else {}),
        }


@dataclass(frozen=True, kw_only=True)
class SetMetricsOnTarget(SetMetrics):
    """The same, with coverage and mean size under the class priors of the target data, if they are known."""

    target: Estimate
    target_size: float | None

    remedy: ClassVar[str] = ""

    @property
    def refuted(self) -> str:
        """See SetMetrics."""
        return self.target.reason

    def shown_of_target(self) -> list[Metric]:
        """See SetMetrics."""
        return [
            Metric("coverage", "coverage, target data", self.target, interval),
            Metric("mean_set_size", "mean set size, target data", self.target_size, _mean_size),
        ]

    @property
    def in_target(self) -> Estimate:
        """See SetMetrics."""
        return self.target


def _mean_size(size: float | None) -> str:
    return "-" if size is None else f"{size:.3f}"


Results = tuple[tuple[str, ConformalArtifact, SetMetrics], ...]
"""Name, rule and metrics of each rule file, in the order of the command line."""


@dataclass(frozen=True, kw_only=True)
class SetDifference(EvaluatedPart):
    """A second rule's prediction sets compared with a first's.

    The coverage has no interval if the two read different columns, else the p-value of the exact McNemar
    test. The mean set size, in classes, has no interval, since rare unseen rows may have sets of very
    different size. Disagreements are rows whose true class is in only one of the two sets.
    """

    coverage: Estimate
    mean_set_size: Estimate

    def metrics(self) -> Metrics:
        """See EvaluatedPart."""
        return {
            "difference": {
                "coverage": self.coverage,
                "mean_set_size": self.mean_set_size,
                "coverage_p": self.coverage.p_value,
                "disagreements": None,
            }
        }

    def added_to(self, document: Document, confidence: float) -> Document:  # noqa: ARG002
        """Add the column of the differences, which have their intervals unless brief."""
        table, *others = document.tables
        brief = table.brief and replace(table.brief, **self._columns(table.brief, brief=True))
        table = replace(table, **self._columns(table, brief=False), brief=brief)
        return replace(document, tables=[table, *others])

    def _columns(self, table: Table, *, brief: bool) -> dict[str, Any]:
        coverage = points_cell(self.coverage, self.coverage.p_value, brief=brief)
        cells = (coverage, f"{self.mean_set_size.value:+.3f}", "")
        beside = zip(table.rows, cells, strict=False)  # there is no difference in target data
        rows = [*((*row, cell) for row, cell in beside), *table.rows[len(cells) :]]
        return {"header": (*table.header, HEADER), "rows": rows}

    def remarks(self) -> Sequence[str]:
        """State why the difference is not tested."""
        return [UNPAIRED]


@dataclass(frozen=True, kw_only=True)
class PairedDifference(SetDifference):
    """The same on the same rows."""

    disagreements: int

    def metrics(self) -> Metrics:
        """See EvaluatedPart."""
        return joined([super().metrics(), {"difference": {"disagreements": self.disagreements}}])

    def remarks(self) -> Sequence[str]:
        """See EvaluatedPart."""
        return []


@dataclass(frozen=True, kw_only=True)
class EvaluateConformalReport(Evaluated):
    """Metrics of saved prediction sets on a test set."""

    results: Results

    def payload(self) -> dict[str, Any]:
        """Return the JSON form, with verdicts (see Evaluated)."""
        sentences = [f"{name}: {_verdict(artifact, measured)}" for name, artifact, measured in self.results]
        payload = self.build_payload([*self._cautions(), *sentences, *self._notes(), *self._smaller_sets()])
        verdicts = [measured.test.verdict for measured in self.measured]
        for result, verdict in zip(payload["results"], verdicts, strict=True):
            result["verdict"] = verdict
        payload["verdict"] = "broken" if "broken" in verdicts else None if None in verdicts else "kept"
        return payload

    def document(self) -> Document:
        """Return the readable form."""
        table = self._table()
        tables = [replace(table, brief=table), self._rules_table()]
        units = {measured.test.unit for measured in self.measured}
        for unit in ("class", "group", "size"):
            tables += [replace(table, detail=unit not in units) for table in self._coverage_tables(unit)]
        sentences = [_verdict(artifact, measured) for _, artifact, measured in self.results]
        claims = [_claim(*result) for result in self.results]
        document = Document(
            title=self.verdicts(sentences),
            tables=tables,
            lead=[*self._smaller_sets(), f"The test set has {self._size()}."],
            cautions=self._cautions(),
            notes=[*self.each_verdict(claims), *self._notes()],
            figures=[sets_figure(self.results, self.parameters.confidence)],
            claims=claims,
            card=self._card(sentences),
        )
        return self.with_parts(document)

    def _size(self) -> str:
        units = self.parameters.units
        within = "".join(f" in {count(number)} {units}" for number in self.results[0][2].clusters)
        return f"{rows_of(self.source.rows)}{within}"

    def _card(self, sentences: Sequence[str]) -> HeadCard:
        name, _, measured = self.results[0]
        states = [measured.test.verdict for measured in self.measured]
        if "broken" in states:
            verdict = Verdict(text="guarantee broken", tone="bad")
        elif None in states:
            verdict = Verdict(text="not tested")
        else:
            verdict = Verdict(text="consistent with the guarantee")
        if measured.is_calibration_set:
            action = "Test the sets on labelled rows that they were not fitted on."
        elif "broken" in states:
            action = "Fit the sets again on current data."
        elif len(self.results) > 1:
            action = (self._smaller_sets() or [""])[-1]
        else:
            action = apply_command(name)
        return HeadCard(
            title=self.verdicts(sentences),
            subject="{rules} tested on {inputs}: "
            + f"{rows_of(self.source.rows)}. Each row gets the set of classes that are plausible for it.",
            verdict=verdict,
            action=action,
            numbers=[
                key_rate("coverage", measured.coverage, self.parameters.confidence),
                KeyNumber(label="classes in a set", value=f"{measured.mean_set_size:.2f}", interval="mean"),
                KeyNumber(label="empty sets", value=percent(measured.empty), interval="no plausible class"),
            ]
            if len(self.results) == 1
            else [
                KeyNumber(
                    label=name,
                    value=percent(measured.coverage.value),
                    interval=f"covered, {measured.mean_set_size:.2f} classes in a set",
                )
                for name, measured in self.named[:3]
            ],
        )

    def _table(self) -> Table:
        """Build the table of coverage and sizes."""
        header = ("", *self.names)
        lines = metric_rows(measured.shown() for measured in self.measured)
        lines += metric_rows(measured.shown_of_target() for measured in self.measured)
        return Table(title="", header=header, rows=lines)

    def _rules_table(self) -> Table:
        rows = [
            (name, artifact.in_short(), rows_of(artifact.source.rows)) for name, artifact, _ in self.results
        ]
        return Table(
            title="", header=("rule file", "sets", "calibration set"), rows=rows, left=3, detail=True
        )

    def _coverage_tables(self, unit: str) -> list[Table]:
        """Build the table of coverage by class, group or set size; none if no rows have any."""
        parts = [
            {"class": measured.by_class, "group": measured.by_group, "size": measured.by_size}[unit]
            for measured in self.measured
        ]
        names = list(dict.fromkeys(name for part in parts for name in part))
        rows = [
            (printable(name), *(interval(part[name]) if name in part else "-" for part in parts))
            for name in names[:_MAX_ROWS]
        ]
        header = (f"coverage by {unit if unit != 'size' else 'set size'}", *self.names)
        return [Table(title="", header=header, rows=rows)] if names else []

    def _cautions(self) -> list[Notice]:
        """Caution that few clusters determine the interval, or that tests are not corrected."""
        few = [
            notice
            for number in self.results[0][2].clusters
            for notice in few_clusters("the coverage", number, "rows", self.parameters.units)
        ]
        unequal = unreliable("the coverage", self.results[0][2].coverage)
        same = [
            Notice(
                "same-rows",
                f"this file has exactly as many rows of each class as the one that {name} was fitted on, so "
                "it probably holds the same rows.",
            )
            for name, _, measured in self.results
            if measured.is_calibration_set
        ]
        return [*self._refuted(), *same, *few, *unequal, *self.uncorrected_tests()]

    def _refuted(self) -> list[Notice]:
        """Caution why nothing is stated about the target data, unless a verdict says it."""
        for measured in self.measured:
            if measured.refuted and measured.test.unit != "target":
                unknown = "the coverage of the target data is unknown"
                return [Notice("unknown-rate", f"{unknown}: {measured.refuted}.")]
        return []

    def _notes(self) -> list[str]:
        notes = [sentence for part in self.parts for sentence in part.remarks()]
        if any(measured.empty for measured in self.measured):
            notes.append("apply --no-empty adds the most likely class to empty sets.")
        return [*notes, OWN_DATA_CAUTION]

    def _smaller_sets(self) -> list[str]:
        """State which of two rules has smaller sets, if both are consistent with their guarantees."""
        if len(self.results) != 2 or any(measured.test.verdict != "kept" for measured in self.measured):
            return []
        (first, one), (second, two) = self.named
        if one.mean_set_size == two.mean_set_size:
            return []
        return [f"Use {first if one.mean_set_size < two.mean_set_size else second}: its sets are smaller."]


def _claim(name: str, artifact: ConformalArtifact, measured: SetMetrics) -> Claim:
    """Build the claim of the guarantee, for JUnit."""
    unit = measured.test.unit
    scope = {"class": " of each class", "group": " of each group", "target": " of target data"}.get(unit, "")
    return Claim(
        name=f"{name}: {100 * (1 - artifact.alpha):g} % coverage{scope}",
        met=measured.test.met,
        sentence=_verdict(artifact, measured),
    )


def _verdict(artifact: ConformalArtifact, measured: SetMetrics) -> str:
    """State the guarantee, how many names are significantly below it, and the worst of them."""
    test, coverage = measured.test, f"{100 * (1 - artifact.alpha):g} % coverage"
    if artifact.unsealed:
        return f"coverage is not tested: {artifact.unsealed}."
    if test.unit == "target":
        return test.of_target(f"{coverage} of target data", measured)
    if test.unit == "" or test.untested_reason:
        return test.of_all(coverage, measured)
    own = " (or its own)" if artifact.parameters.alpha_by_class else ""
    unit = "group" if test.unit == "group" else "class"
    return test.of_parts(f"{coverage} of each {unit}{own}", measured)


def sets_figure(results: Results, confidence: float) -> Figure:
    """Build the figure of set sizes and coverage by class, for one rule or several."""

    def draw(canvas: Canvas) -> list[HoverText]:
        sizes, classes = panels(canvas, [2, 3])
        texts = [*_draw_sizes(sizes, results), *_draw_coverage(classes, results)]
        classes.set_title(f"Coverage by class, with {100 * confidence:g} % intervals")
        return texts

    names = ", ".join(name for name, _, _ in results)
    return Figure(
        title=f"Sizes and coverage of prediction sets: {names}",
        caption=f"Smaller sets are better, at guaranteed coverage. {_guarantees(results)}",
        width=10.5,
        height=4.2,
        narrow_height=7.0,
        draw=draw,
    )


def _guarantees(results: Results) -> str:
    units = {measured.test.unit for _, _, measured in results}
    if "class" in units:
        return (
            "Dashed: guaranteed coverage of each class. Each interval is for one class; the verdict corrects "
            "for testing all of them."
        )
    of_all_rows = "Dashed: guaranteed coverage of all rows together. " if "" in units else ""
    return f"{of_all_rows}No single class has a guarantee."


_COLOURS = (BLUE, RED, GREY, INK)


def _draw_sizes(axes: Axes, results: Results) -> list[HoverText]:
    from matplotlib.ticker import MaxNLocator

    width = 0.8 / len(results)
    for index, (name, _, measured) in enumerate(results):
        size = np.array([int(size) for size in measured.sizes])
        rows = np.array(list(measured.sizes.values())) / measured.rows
        axes.bar(
            size + (index + 0.5) * width - 0.4,
            rows,
            width=width,
            color=_COLOURS[index % 4],
            label=printable(name, 30),
        )
    axes.set_title("Size of the sets")
    axes.set(xlabel="classes in the set", ylabel="share of rows")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(results) > 1:
        axes.legend(frameon=False)
    return [
        HoverText(
            axes=axes,
            x=(int(size) - 0.4, int(size) + 0.4),
            y=axes.get_ylim(),
            text=f"{printable(name, 30)}: {percent(rows / measured.rows)} of sets have {size} classes",
        )
        for name, _, measured in results
        for size, rows in measured.sizes.items()
    ]


def _draw_coverage(axes: Axes, results: Results) -> list[HoverText]:
    texts = []
    names = results[0][1].classes[:_MAX_BARS]
    labels = ["all", *(printable(name, 20) for name in names)]
    step = 0.6 / len(results)
    for index, (_, artifact, measured) in enumerate(results):
        shares = [measured.coverage, *(measured.by_class.get(name, UNKNOWN) for name in names)]
        estimates = [(place, share) for place, share in enumerate(shares) if share.value is not None]
        values = np.array(
            [(share.value, *(share.ends or (share.value, share.value))) for _, share in estimates],
            dtype=np.float64,
        )
        ends = np.maximum([values[:, 0] - values[:, 1], values[:, 2] - values[:, 0]], 0)
        centres = np.array([position for position, _ in estimates]) + (index + 0.5) * step - 0.3
        colour = _COLOURS[index % len(_COLOURS)]
        axes.errorbar(centres, values[:, 0], yerr=ends, fmt="o", color=colour, markersize=4)
        for (position, covered), centre in zip(estimates, centres.tolist(), strict=True):
            text = f"{'class ' if position else ''}{labels[position]}: {interval(covered)}"
            if covered.ends:
                texts.append(HoverText(axes=axes, x=(centre, centre), y=covered.ends, text=text))
        guaranteed = _guaranteed_at(artifact, measured.test.unit, names)
        positions = np.array(list(guaranteed))
        share = list(guaranteed.values())
        axes.hlines(share, positions - 0.5, positions + 0.5, color=colour, linewidth=1, linestyle="dashed")
    rotation = 90 if max(map(len, names)) > 3 else 0
    axes.set_xticks(range(len(labels)), labels, rotation=rotation, parse_math=False)
    axes.set(ylabel="share of rows whose set holds it", ylim=(None, 1.02))
    return texts


def _guaranteed_at(artifact: ConformalArtifact, unit: str, names: Sequence[str]) -> Mapping[int, float]:
    """Return the guaranteed coverage by place in the figure: of all rows first, then of each class."""
    if unit == "class":
        return {position: artifact.guaranteed_of(name) for position, name in enumerate(names, start=1)}
    return {0: 1 - artifact.alpha} if unit == "" else {}
