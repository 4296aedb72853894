"""The report of ``uqcli boundary``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec

from uqcli.artifacts.boundary import (
    EXPECTED,
    BoundaryParameters,
    recalibration_in_words,
    rule,
    threshold_table,
)
from uqcli.artifacts.saved import Source
from uqcli.choices import Algorithm, AlgorithmChoice, ConstraintKind
from uqcli.counts import Cells
from uqcli.document import (
    Document,
    Estimate,
    Figure,
    Metrics,
    OneResult,
    Promise,
    Table,
    count,
    head_of,
    plain,
    share,
    share_in_range,
)
from uqcli.methods.boundary.bins import BinsTried
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.expected import Expected
from uqcli.methods.boundary.optimum import Optimum
from uqcli.methods.boundary.result import FitCounts, FittedBoundary
from uqcli.methods.boundary.target import ClassMix
from uqcli.reports.boundary.bins_tried import tried_table
from uqcli.reports.boundary.certification import Certification
from uqcli.reports.boundary.compared import Compared, gains_table
from uqcli.reports.boundary.trade_off import TradeOff, trade_off_figure
from uqcli.reports.in_words import ALGORITHMS, named
from uqcli.reports.positivity import Drawn, positivity_figure

UNTESTED = (
    "Whether the uncertainty finds more than the score alone, and by more than chance, was not tested: "
    "--compare tests it."
)
TOGETHER = "The thresholds meet the bound together, not each by itself."
TOO_FEW = "One threshold: too few alerts to choose bins."
NO_GAIN = "One threshold: no clear gain from uncertainty bins."
_OTHERS = (
    "Whether the uncertainty finds more than the score alone was not tested: --compare does, on other rows."
)
_HELD_OUT = (
    "Gains are measured otherwise, on rows held out: at as many alerts they count better ranking alone, at "
    "the bound also what more alerts find that better ranking allows."
)
_NOT_SHOWN = "On rows held out it is not shown to find more than the score alone."


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """What one algorithm found, or why it does not apply.

    Attributes
    ----------
    seconds
        How long the search took; for people only, it changes from run to run.
    expected
        What to expect on new rows; None where that is not estimated.
    """

    algorithm: Algorithm
    optimum: Optimum | None
    obstacle: str | None = None
    seconds: float = 0.0
    expected: Expected | None = None

    @property
    def found(self) -> FittedBoundary | None:
        """The boundary, if there is one."""
        return self.optimum.found if self.optimum else None


@dataclass(frozen=True, kw_only=True)
class BoundaryReport(OneResult):
    """What was found on the hold-out rows.

    Attributes
    ----------
    chosen
        The best of the candidates; it may have found nothing.
    score_only
        What a single score threshold reaches on the same rows; None if that is the algorithm, or if it
        cannot be told.
    aside
        A boundary that one threshold is saved in the place of; None where the boundary itself is saved.
    empty_bins
        Uncertainty bins without a row.
    rows, positives
        By weight.
    mix
        Class weights of the target in which the constraint was to hold.
    compared
        What uncertainties gain over the score alone, the best first; empty where nobody asked.
    cells
        The grid, for the figure; None where the boundary was not found on one.
    seed
        Of what was drawn; None where nothing was.
    tried
        Numbers of uncertainty bins that were tried, none with too few alerts; None where nobody chose.
    cautious
        The same with a margin of one standard error; None where the bound is met with as much.
    without_margin
        What is found without one, where a margin makes it infeasible.
    trade_off
        Boundaries for other numbers of alerts, where that was asked for.
    """

    source: Source
    parameters: BoundaryParameters
    constraint: Constraint
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    score_only: Optimum | None
    empty_bins: tuple[int, ...]
    rows: int
    positives: int
    aside: Candidate | None = None
    mix: ClassMix | None = None
    certification: Certification | None = None
    tried: tuple[BinsTried, ...] | None = None
    cautious: Optimum | None = None
    without_margin: FittedBoundary | None = None
    compared: tuple[Compared, ...] = ()
    cells: Cells | None = None
    trade_off: TradeOff | None = None
    seed: int | None = None

    @property
    def metrics(self) -> Metrics:
        """Recall, precision and counts on the hold-out rows."""
        fit = self.chosen.found.fit if self.chosen.found else None
        closest, single = self._closest, self._single
        there = self.mix.precision(fit.precision) if fit and self.mix else None
        target = {} if self.mix is None else {"target_precision": there}
        return {
            **target,
            "recall": fit.recall if fit else None,
            "precision": fit.precision if fit else None,
            "selected": fit.selected if fit else 0,
            "true_positives": fit.true_positives if fit else 0,
            "rows": self.rows,
            "positives": self.positives,
            "expected": expected_metrics(self.chosen.expected, self.mix),
            "score_only_recall": single.fit.recall if single else None,
            "best_precision": closest.precision if closest else None,
            "recall_at_best_precision": closest.recall if closest else None,
            **(self.compared[0].metrics if self.compared else {}),
        }

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        found = self.chosen.found
        content = {
            **head_of("boundary", self.source, self.parameters),
            "metrics": plain(self.metrics),
            "feasible": found is not None,
            "algorithm": str(self.chosen.algorithm),
            "uncertainty_edges": found.uncertainty_edges.tolist() if found else None,
            "thresholds": list(found.thresholds) if found else None,
            "notes": [*self._lead(), *self._notes()],
        }
        if self.certification is not None:
            content["certificate"] = msgspec.to_builtins(self.certification.certificate)
        if self.compared:
            content["verdict"] = self.compared[0].verdict
            content["compared"] = [each.payload() for each in self.compared]
        if self.tried is not None:
            content["bins_tried"] = [asdict(each) for each in self.tried]
        if self.parameters.algorithm is AlgorithmChoice.ALL:
            content["algorithms"] = [_as_json(candidate) for candidate in self.candidates]
        return content

    def document(self) -> Document:
        """The readable form."""
        found = self.chosen.found
        tables = [self._table()] if found or len(self.candidates) > 1 else []
        if self.compared:
            tables.append(gains_table(self.compared))
        if self.tried:
            tables.append(tried_table(self.tried))
        if found:
            tables.append(self._decision(found))
        return Document(
            title=self._title(),
            lead=self._lead(),
            tables=tables,
            notes=self._notes(),
            figures=self._figures(),
            promises=[self.promise],
            live=self._times(),
        )

    def _title(self) -> str:
        title = f"Boundary ({self.chosen.algorithm}) for {self.constraint.promise()}"
        if self.aside is not None or (self.compared and self._is_one):
            return f"{title}: the score alone"
        if self._in_vain:
            return f"{title}: not shown to beat the score alone"
        return title if self.certification is None else f"{title}, certified"

    @property
    def _in_vain(self) -> bool:
        """Whether rows held out were asked and do not say that the uncertainty helps."""
        return any(each.verdict != "helps" for each in self.compared[:1])

    @property
    def promise(self) -> Promise:
        """That there is a boundary that keeps what was asked for."""
        found, asked = self.chosen.found, self.constraint.promise()
        certified = "" if self.certification is None else ", certified"
        said = f"Infeasible: {self.shortfall()}." if found is None else ""
        return Promise(name=f"{asked}{certified}", kept=found is not None, said=said)

    def _figures(self) -> list[Figure]:
        """Positivity with what was found."""
        if self.cells is None:
            return []
        found, name = self.chosen.found, "boundary"
        if self.certification is not None:
            name = "certified boundary"
        drawn = [(name, found), ("score alone", self._single)]
        if self.aside is not None:
            drawn = [("boundary, not saved", self.aside.found), ("score alone, saved", found)]
        boundaries = [Drawn(name=name, thresholds=each.thresholds) for name, each in drawn if each]
        figure = positivity_figure(self.cells, boundaries)
        if self._in_vain:
            figure = replace(figure, caption=f"{figure.caption} {_NOT_SHOWN}")
        figures = [figure]
        return figures if self.trade_off is None else [*figures, trade_off_figure(self.trade_off, found)]

    def _decision(self, found: FittedBoundary) -> Table:
        """Thresholds, with that of the score alone, which some reports say to use instead."""
        shown = self.aside.found if self.aside and self.aside.found else found
        edges = shown.uncertainty_edges.tolist()
        alone = None if self._single is None or shown is self._single else self._single.thresholds[0]
        return threshold_table(edges, shown.thresholds, alone, saved=self.aside is not None)

    @property
    def _single(self) -> FittedBoundary | None:
        """What one score threshold reaches on the same rows, beside a boundary or in its place."""
        if self.aside is not None:
            return self.chosen.found
        return self.score_only.found if self.score_only else None

    def sentence(self) -> list[str]:
        """Whether the uncertainty pays, where that was asked."""
        return [each.sentence(self.constraint.promise(), self._advice(each)) for each in self.compared[:1]]

    def _advice(self, compared: Compared) -> str:
        """Which rule to use after a comparison, and which is saved."""
        if self.certification is not None:
            return "The certified boundary keeps its promise either way, and is the one that is saved."
        alone = self._single
        if alone is None and self.chosen.found and self._is_one:
            return f"Use one threshold ({rule(self.chosen.found.thresholds[0])}): it is saved."
        if compared.verdict == "helps" or alone is None:
            return "Use the boundary."
        one = f"Use one threshold ({rule(alone.thresholds[0])})"
        if self.aside is None:
            return f"{one}: --uncertainty-bins 1 saves it, here what was asked for is saved."
        return f"{one}: it is saved; --uncertainty-bins auto saves the boundary."

    def _lead(self) -> list[str]:
        """What to know before anything else."""
        return self.sentence() or [*self._why_one(), *self._better_alone()]

    @property
    def _is_one(self) -> bool:
        """Whether the rule is one score threshold."""
        return self.chosen.found is not None and len(self.chosen.found.thresholds) == 1

    def _why_one(self) -> list[str]:
        """Why the usual rule is one threshold here."""
        if self.tried is None or self.aside or not self._is_one:
            return []
        return [NO_GAIN if self.tried else TOO_FEW]

    def _better_alone(self) -> list[str]:
        """That one score threshold does better."""
        found, single = self.aside.found if self.aside else self.chosen.found, self._single
        if single is None:
            return []
        said = f"One score threshold reaches recall {share(single.fit.recall)} at precision "
        said += f"{share(single.fit.precision)} on these rows ({rule(single.thresholds[0])})"
        way = "use --algorithm st, or more score bins"
        if self.aside is not None:
            way = (
                "it is saved" if found is None else "it is saved; --uncertainty-bins auto saves the boundary"
            )
        if found is None:
            return [f"{said}, where no boundary on this grid will do: {way}."]
        ours, other = (
            self.constraint.objective(f.true_positives, f.selected) for f in (found.fit, single.fit)
        )
        if other <= ours or (self.aside is None and self.chosen.algorithm is Algorithm.SMOOTH):
            return []
        return [f"{said}, which is better than the boundary below: {way}."]

    def _table(self) -> Table:
        where = "on the rows it was chosen on" if self.certification is None else "on all these rows"
        header = [where, "recall", "precision", "selected", "true positives"]
        if len(self.candidates) > 1:
            more = ["expected recall", "expected precision"]
            every = [
                (named(each.algorithm, ALGORITHMS), *_cells(each), *expected_cells(each.expected))
                for each in self.candidates
            ]
            return Table(title="", header=[*header, *more], rows=every)
        rows: list[tuple[str, ...]] = [(named(self.chosen.algorithm, ALGORITHMS), *_cells(self.chosen))]
        if self.chosen.expected is not None:
            told = expected_metrics(self.chosen.expected, self.mix)
            both = (told["recall"], told["precision"])
            shown = (share_in_range(each.value, each.low, each.high) for each in both if each)
            rows.append((EXPECTED, *shown, "", ""))
        if self.aside is not None:
            rows.append((f"not saved: {named(self.aside.algorithm, ALGORITHMS)}", *_cells(self.aside)))
        if self.score_only and self.score_only.found:
            rows.append(("score alone", *fit_cells(self.score_only.found.fit)))
        if self.certification and self.certification.uncertified:
            rows.append(("without certificate", *fit_cells(self.certification.uncertified.fit)))
        return Table(title="", header=header, rows=rows)

    def _times(self) -> list[str]:
        if len(self.candidates) == 1:
            return []
        times = [f"{each.algorithm} {each.seconds:.3f}" for each in self.candidates if not each.obstacle]
        return [f"Seconds: {', '.join(times)}."]

    @property
    def is_untested(self) -> bool:
        """Whether recalls stand side by side of which nobody asked whether chance explains the difference."""
        beside = len(self.candidates) > 1 or self._single is not None
        return beside and not self.compared and self.tried is None

    @property
    def has_lines(self) -> bool:
        """Whether several thresholds keep the bound together."""
        return self.chosen.found is not None and len(self.chosen.found.thresholds) > 1

    @property
    def _closest(self) -> FitCounts | None:
        closest = self.chosen.optimum.closest if self.chosen.optimum else None
        return closest.fit if closest else None

    def _notes(self) -> list[str]:
        dropped = f", {count(self.source.dropped)} dropped" if self.source.dropped else ""
        made = "Chosen on" if self.certification is None else "Made from"
        notes = [
            f"{made} {count(self.source.rows)} rows, {count(self.source.positives)} positive{dropped}, for "
            f"{self.constraint.aim()}."
        ]
        if self.empty_bins:
            listed = ", ".join(str(number + 1) for number in self.empty_bins)
            notes.append(f"Uncertainty bins without any row (never positive): {listed}.")
        notes += [
            f"{each.algorithm} does not apply: it {each.obstacle}."
            for each in self.candidates
            if each.obstacle
        ]
        optimum = self.chosen.optimum
        if optimum and optimum.recalibration:
            by = optimum.recalibration
            notes.append(recalibration_in_words(by.coefficient, by.low, by.high))
        if self.chosen.found is None:
            return [*notes, f"Infeasible: {self.shortfall()}."]
        if self.certification is not None:
            return [
                *notes,
                *self.certification.notes(self.chosen.found),
                *([] if self.compared else [_OTHERS]),
            ]
        if self.is_untested:
            notes.append(UNTESTED)
        if self.score_only and self.score_only.found is None:
            notes.append("No single score threshold meets the constraint on these rows.")
        if self.mix is not None:
            there = self.mix.precision(self.chosen.found.fit.precision)
            notes.append(
                f"In the target's class mix (weights {self.mix.negative:.4g} and {self.mix.positive:.4g}) "
                f"the precision is {share(there)}."
            )
        return [*notes, *self._what_to_expect()]

    def _what_to_expect(self) -> list[str]:
        """Which numbers are of the rows that the boundary was chosen on, and what draws decide."""
        said = [TOGETHER] if self.has_lines else []
        if self.chosen.expected is None:
            said.append(
                "Recall and precision are measured on the rows the boundary was chosen on: expect less on "
                "new rows; check with uqcli evaluate on labelled data not used here."
            )
        said += [_HELD_OUT] if self.compared else []
        said += self._with_margin()
        drawn = [
            *(["the gains"] if self.compared else []),
            *(["which uncertainty is used"] if len(self.compared) > 1 else []),
            *(["the number of uncertainty bins"] if self.tried else []),
        ]
        if drawn and self.seed is not None:
            said.append(f"Drawn with seed {self.seed}: {', '.join(drawn)}.")
        return said

    def _with_margin(self) -> list[str]:
        """What a margin and a certificate would change, where the bound is met with less."""
        if self.cautious is None or self.chosen.found is None:
            return []
        odds = "about one in six" if self.constraint.margin == 0 else "fewer"
        found = self.cautious.found
        if found is None:
            margin = "--margin 1 finds no boundary on these rows"
        else:
            margin = f"--margin 1 makes it {odds} at recall {share(found.fit.recall)} on these rows"
        often = "in about half" if self.constraint.margin == 0 else "in some"
        return [f"New rows break the bound {often} of hold-outs: {margin}; --certify 0.1 guarantees it."]

    def shortfall(self) -> str:
        """Say how close the best boundary comes."""
        if self.positives == 0:
            return "no row is positive"
        if self.certification is not None:
            return self.certification.shortfall(self.constraint.value)
        if self.constraint.margin and self.without_margin is not None:
            fit = self.without_margin.fit
            return (
                f"no boundary reaches precision {self.constraint.value} with a margin of "
                f"{float(self.constraint.margin):g} standard errors; without one recall is "
                f"{share(fit.recall)}"
            )
        if self._closest is None:
            return f"no boundary gives {self.constraint.promise()} with a positive result"
        if self.constraint.kind is ConstraintKind.PRECISION:
            return (
                f"no boundary reaches precision {self.constraint.value}; the best is "
                f"{share(self._closest.precision)} at recall {share(self._closest.recall)} "
                f"({count(self._closest.selected)} selected)"
            )
        return (
            f"no boundary finds a positive row with {self.constraint.promise()}; the closest selects "
            f"{count(self._closest.selected)}, {count(self._closest.true_positives)} of them positive"
        )


def _as_json(candidate: Candidate) -> dict[str, Any]:
    fit = candidate.found.fit if candidate.found else None
    metrics = None
    if fit is not None:
        metrics = {
            "recall": fit.recall,
            "precision": fit.precision,
            "selected": fit.selected,
            "true_positives": fit.true_positives,
            "expected": plain(expected_metrics(candidate.expected)),
        }
    return {"algorithm": str(candidate.algorithm), "metrics": metrics, "obstacle": candidate.obstacle}


def expected_metrics(found: Expected | None, mix: ClassMix | None = None) -> Mapping[str, Estimate | None]:
    """Precision and recall to expect, in a target's class mix if given; None where not estimated."""
    if found is None:
        return {"precision": None, "recall": None}
    precision = found.precision
    if mix is not None:
        ends = (precision.value, precision.low, precision.high)
        value, low, high = (mix.precision(each) for each in ends)
        precision = Estimate(value=value, low=low, high=high)
    return {"precision": precision, "recall": found.recall}


def expected_cells(found: Expected | None) -> tuple[str, str]:
    """What to expect on new rows, for tables: recall, precision."""
    if found is None:
        return "", ""
    return share(found.recall.value), share(found.precision.value)


def _cells(candidate: Candidate) -> tuple[str, str, str, str]:
    if candidate.found is None:
        word = "does not apply" if candidate.obstacle else "infeasible"
        return (word, "", "", "")
    return fit_cells(candidate.found.fit)


def fit_cells(fit: FitCounts) -> tuple[str, str, str, str]:
    """What a boundary finds, for tables: recall, precision, selected, true positives."""
    return share(fit.recall), share(fit.precision), count(fit.selected), count(fit.true_positives)
