"""Report of ``uqcli evaluate`` on boundaries, and the parts shared by reports on other kinds of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from uqcli.base.choices import ReviewKind
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import (
    MOST_NAMED,
    capitalised,
    count,
    first_of,
    listed,
    percent,
    percent_and_range,
    points,
    range_of,
    rows_of,
)
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.rule import ROWS_ARE_PREDICTIONS, BoundaryArtifact
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import PROMISED, PromisedRate
from uqcli.estimates.estimate import FEWEST_FLAGGED, UNKNOWN, Estimate, direction, interval, unreliable
from uqcli.estimates.score_metrics import REVERSED
from uqcli.estimates.survey import MIN_CLUSTERS, few_clusters
from uqcli.evaluate.measured_boundary import VALUE_ROWS, BoundaryDifference, MeasuredBoundary, worth_more
from uqcli.evaluate.report import HEADER, OWN_DATA_CAUTION, Evaluated, apply_command, rates_figure, said_of
from uqcli.reports.document import (
    Claim,
    Document,
    Figure,
    HeadCard,
    KeyNumber,
    Table,
    Verdict,
    key_cell,
    key_rate,
)

ASSUMPTION: Final = (
    "Labelled rows with the same decision and a similar score stand for those without a label, as if labels "
    "were given at random there. A choice that depends on the label cannot be seen."
)
"""Assumption under which rates of rows without a label are stated."""

LABELS_OF_SAMPLE: Final = "Rows without a label are left out, as if labels were missing at random."
"""The same for rows with sampling weights."""


@dataclass(frozen=True, kw_only=True)
class EvaluateReport(Evaluated):
    """Metrics of saved boundaries on a test set.

    The claims say whether each rule misses its target on the test set, and each rule with a review its limit.
    ``alike`` are rows of one day or customer that are alike, though taken as independent.
    """

    results: tuple[tuple[str, BoundaryArtifact, MeasuredBoundary], ...]
    claims: tuple[Claim, ...]
    review_claims: tuple[Claim, ...] = ()
    difference: BoundaryDifference | None = None
    alike: AlikeRows | None = None

    def payload(self) -> dict[str, Any]:
        """Return the JSON form (see Evaluated)."""
        sentences = [claim.sentence for claim in (*self.claims, *self.review_claims)]
        return self.build_payload(
            [
                *self._cautions(),
                *sentences,
                *self._assistance(),
                *self._assumption(),
                *self._notes(),
                *self._advice(),
            ]
        )

    def document(self) -> Document:
        """Return the readable form."""
        table = replace(self._table(brief=False), brief=self._table(brief=True))
        document = Document(
            title=self._title(),
            tables=[table, self._rules_table()],
            lead=[
                *self._decisions(),
                *([ROWS_ARE_PREDICTIONS] if self.results[0][1].class_names else []),
                *self._review_sentences(),
                *self._assistance(),
                *self._assumption(),
                *self._advice(),
            ],
            cautions=self._cautions(),
            notes=[*self.each_verdict(self.claims), *self._notes()],
            figures=self._figures(),
            claims=[*self.claims, *self.review_claims],
            card=self._card(),
        )
        return self.with_parts(document)

    def _title(self) -> str:
        """State the rate that a rule bounds and whether its target holds, or what several rules find."""
        if len(self.results) > 1:
            sentences = [f"{name} {_finds(measured)}" for name, measured in self.named]
            if len(sentences) > MOST_NAMED:
                sentences[MOST_NAMED:] = [f"the table has {len(sentences) - MOST_NAMED} more rules"]
            return f"{'; '.join(sentences)}."
        ((name, artifact, measured),), (claim,) = self.results, self.claims
        sentence = claim.sentence.removeprefix(f"{name}: ")
        constraint = artifact.constraint.parsed()
        if measured.value is not None and not constraint.is_bound:
            return measured.value.sentence(self.parameters.confidence)
        if constraint.also or (claim.met is None and not constraint.is_promise):
            return f"{sentence[:1].upper()}{sentence[1:]}"
        return self._against_target(self._rated(artifact, measured), sentence, artifact, claim)

    def _rated(self, artifact: BoundaryArtifact, measured: MeasuredBoundary) -> str:
        """State the rate that a rule bounds, with its interval; of few flagged rows how many are right."""
        constraint = artifact.constraint.parsed()
        if not constraint.is_promise:
            return f"{percent(measured.selected_share)} of rows are flagged"
        rate = measured.target_precision if constraint.is_proportion_of_flagged else None
        estimate = rate or measured.rate(*constraint.rates)
        where = "" if rate is None else " on the target data"
        ends = estimate.value, estimate.low, estimate.high
        level = f"{100 * self.parameters.confidence:g} % interval "
        found = percent_and_range(*ends, level, beside=[float(constraint.numbers[0])])
        rated = f"{constraint.name}{where} is {found}"
        rated = f"{rated[:1].upper()}{rated[1:]}"
        flagged = measured.confusion.selected
        if constraint.is_proportion_of_flagged and not flagged:
            return "No row is flagged"
        if constraint.is_proportion_of_flagged and rate is None and flagged < FEWEST_FLAGGED:
            right = f"{count(measured.confusion.true_positives)} of {count(flagged)} flagged rows are right"
            range_ = range_of(estimate.low, estimate.high)
            return f"{right} ({level}{range_})" if range_ else right
        return rated

    @staticmethod
    def _against_target(rated: str, sentence: str, artifact: BoundaryArtifact, claim: Claim) -> str:
        """State whether a rate meets its target, after the rate."""
        constraint = artifact.constraint.parsed()
        if claim.met is None:
            return f"{rated}; {sentence}"
        bound = f"{'at most' if constraint.is_upper else 'at least'} {constraint.bound}"
        target = f"the {'guarantee' if artifact.risk else 'target'} of {bound}"
        significant = " (significant)" if "(significant)" in sentence else ""
        verdict = "is consistent with" if claim.met else "misses"
        if claim.met and significant:
            verdict = "meets"
        return f"{rated}, which {verdict} {target}{significant}."

    def _decisions(self) -> list[str]:
        """State what the rule does with the rows, or whether the targets of several rules hold."""
        _, artifact, first = self.results[0]
        confusion = first.confusion
        dropped = f"; {count(self.source.dropped)} rows were dropped" if self.source.dropped else ""
        within = ""
        if first.clusters is not None:
            within = f" in {count(first.clusters['clusters'])} {self.parameters.units}"
        rows, positives = rows_of(confusion.rows), f"{count(confusion.positives)} positives"
        if len(self.results) > 1:
            sentences = [
                claim.sentence.removeprefix(f"{name}: ")
                for (name, _, _), claim in zip(self.results, self.claims, strict=True)
            ]
            return [self.verdicts(sentences)]
        flags, of = ("Accepts", "right predictions") if artifact.class_names else ("Flags", "positives")
        share_of_rows = percent(confusion.selected / confusion.rows)
        done = f"{flags} {count(confusion.selected)} of {rows} ({share_of_rows}){within}"
        recall, found = first.recall.value, f" and finds {{}} of the {count(confusion.positives)} {of}"
        if first.weighted is not None:  # counts are those of the file, and shares those of all rows
            done = f"{done}, by weight {percent(first.selected_share)} of all rows"
            found, positives = f", and finds {{}} of all {of}", "positives among all rows"
        finds = "" if recall is None else found.format(percent(recall))
        if first.zones is not None:
            caught = first.zones.caught.value
            finds = f", and sends {percent(first.zones.review_share.value)} to review"
            if caught is not None:
                finds = f"{finds}; together they hold {percent(caught)} of the {positives}"
        return [f"{done}{finds}{dropped}."]

    def _review_sentences(self) -> list[str]:
        """State whether the limits of the reviews hold; without the name of a single rule."""
        sentences = [claim.sentence for claim in self.review_claims]
        if len(self.results) > 1:
            short = dict(zip((name for name, _, _ in self.results), self.names, strict=True))
            split = [sentence.partition(": ") for sentence in sentences]
            return [said_of(short.get(name, name), verdict) for name, _, verdict in split]
        plain_sentences = [sentence.removeprefix(f"{self.results[0][0]}: ") for sentence in sentences]
        said = [said_of("the rule", sentence) for sentence in plain_sentences]
        ((_, artifact, measured),) = self.results
        missed = None if measured.zones is None else measured.zones.miss.value
        finding = ""
        if missed is not None and _least_caught(artifact) is not None:
            finding = f"{percent(missed)} of positives are missed: "
        elif measured.omission is not None and measured.omission.value is not None:
            finding = f"{percent(measured.omission.value)} of cleared rows are positive: "
        said = [f"{finding}{sentence}" for sentence in said]
        return [capitalised(sentence) for sentence in said]

    def _card(self) -> HeadCard:
        if len(self.results) == 1:
            return self._card_of_one()
        states = {claim.met for claim in (*self.claims, *self.review_claims)}
        verdict = Verdict(text="a target is missed", tone="bad") if False in states else None
        if self.difference is None:
            numbers = [
                key_rate(f"recall of {name}", measured.recall, self.parameters.confidence)
                for name, measured in self.named[:3]
            ]
            return HeadCard(title=self._title(), verdict=verdict, numbers=numbers)
        same = not direction(self.difference.selected) and not direction(self.difference.recall)
        if verdict is None and self.difference.selected.low is not None:
            verdict = Verdict(text="no significant difference" if same else self._trade_off())
        rows = self.results[0][2].stands_for
        precision, recall, selected = self.difference.column(brief=False, rows=rows)
        names = ("precision", "recall", "flagged rows")
        return HeadCard(
            title=self._title(),
            subject="{rules} compared on {inputs}: " + f"{rows_of(self.results[0][2].confusion.rows)}.",
            verdict=verdict,
            action=(self._advice() or [""])[-1],
            numbers=[
                key_cell(f"{name}, difference", cell)
                for name, cell in zip(names, (precision, recall, selected), strict=True)
            ],
        )

    def _trade_off(self) -> str:
        (first, one), (second, two) = self.named
        more = first if (one.recall.value or 0) >= (two.recall.value or 0) else second
        precise = first if (one.precision.value or 0) >= (two.precision.value or 0) else second
        return f"{more} finds more" + ("" if more == precise else f", {precise} is more precise")

    def _card_of_one(self) -> HeadCard:
        ((name, artifact, measured),) = self.results
        claims = [*self.claims, *self.review_claims]
        met = False if measured.promise_broken else self.claims[0].met
        proven = all("(significant)" in claim.sentence for claim in claims)
        verdicts: dict[bool | None, Verdict] = {
            True: Verdict(text="target met", tone="good")
            if proven
            else Verdict(text="consistent with the target, not proven"),
            False: Verdict(text="target missed", tone="bad"),
            None: Verdict(text="no target tested"),
        }
        in_file = f"{count(measured.confusion.selected)} of {rows_of(measured.confusion.rows)}"
        numbers = [
            key_rate(
                f"precision (target {artifact.constraint.parsed().bound})"
                if artifact.constraint.parsed().is_proportion_of_flagged
                else "precision",
                measured.precision,
                self.parameters.confidence,
            ),
            key_rate("positives found", measured.recall, self.parameters.confidence),
            KeyNumber(
                label=f"flagged{', by weight' if measured.by_weight else ''}",
                value=percent(measured.selected_share),
                interval=f"{in_file} here" if measured.by_weight else in_file,
            ),
        ]
        if 0 < measured.confusion.selected < FEWEST_FLAGGED and measured.weighted is None:
            right = f"{count(measured.confusion.true_positives)} of {count(measured.confusion.selected)}"
            numbers[0] = replace(numbers[0], value=right)
        for bound in artifact.constraint.parsed().bounds:
            if not bound.own_column:
                continue
            target = bound.text().removeprefix(f"{bound.name} ")
            name_of_rate = f"{bound.name} (target {target})"
            numbers.insert(0, key_rate(name_of_rate, measured.rate(*bound.rates), self.parameters.confidence))
        if measured.value is not None:
            numbers.insert(0, measured.value.key_number(self.parameters.confidence))
        if artifact.class_names:
            numbers[1] = replace(numbers[1], label="right predictions accepted")
            numbers[2] = replace(numbers[2], label="accepted")
        if (zones := measured.zones) is not None:
            numbers[1:] = [
                key_rate("positives caught", zones.caught, self.parameters.confidence),
                key_rate("reviewed", zones.review_share, self.parameters.confidence),
            ]
        return HeadCard(
            title=self._title(),
            subject="{rules} tested on {inputs}: "
            + f"{rows_of(measured.confusion.rows)}, {count(measured.confusion.positives)} positive.",
            verdict=verdicts[met],
            action=([*self._advice(), *self._apply(name, artifact)] or [""])[0],
            numbers=numbers,
        )

    def _table(self, *, brief: bool) -> Table:
        """Build the table of rates and counts; differences have their intervals unless brief."""
        header = ("", *self.names)
        columns = [_column(measured) for measured in self.measured]
        if self.difference is not None:
            header = (*header, HEADER)
            columns.append(self._difference_cells(self.difference, brief=brief))
        rows: list[tuple[str, ...]] = list(zip(_ROWS, *columns, strict=True))
        rows += _row("precision, target data", [measured.target_precision for measured in self.measured])
        if not brief:
            rows += _row("positive rate", [measured.prevalence for measured in self.measured])
        rows += self._review_rows(brief=brief)
        rows += self._value_rows(brief=brief)
        if not brief:
            rows += self._net_benefit_row()
        return Table(title="", header=header, rows=rows)

    def _review_rows(self, *, brief: bool) -> list[tuple[str, ...]]:
        """Build the rows of what is not flagged: positives among dropped rows, and the zones for review."""
        has_zones = any(measured.zones for measured in self.measured)
        rows = []
        if not (brief and has_zones):
            rows = _row("false omission", [measured.omission for measured in self.measured])
        if self.difference is not None:
            rows = [(*row, "") for row in rows]
        if has_zones:
            columns = [_zone_cells(measured) for measured in self.measured]
            if self.difference is not None:
                columns.append((self.difference.caught_cell(brief=brief), "", ""))
            rows += zip(_ZONE_ROWS, *columns, strict=True)
        return rows

    def _net_benefit_row(self) -> list[tuple[str, ...]]:
        rows = _row("net benefit", [measured.net_benefit for measured in self.measured])
        if self.difference is None:
            return rows
        return [(*row, self.difference.net_benefit_cell()) for row in rows]

    def _value_rows(self, *, brief: bool) -> list[tuple[str, ...]]:
        """Build the rows of the value; none without gain and cost."""
        values = [measured.value for measured in self.measured if measured.value is not None]
        columns = [value.cells() for value in values]
        if self.difference is not None and self.difference.value is not None:
            columns.append(self.difference.value.difference_cells(brief=brief))
        return list(zip(VALUE_ROWS, *columns, strict=True)) if columns else []

    def _rules_table(self) -> Table:
        rows = [
            (
                name,
                str(artifact.algorithm),
                ", ".join(f"{bound.kind} {bound.value}" for bound in artifact.constraint.parsed().bounds),
                rows_of(artifact.source.rows),
            )
            for name, artifact, _ in self.results
        ]
        header = ("rule file", "algorithm", "target", "calibration set")
        return Table(title="", header=header, rows=rows, left=4, detail=True)

    def _difference_cells(self, difference: BoundaryDifference, *, brief: bool) -> tuple[str, ...]:
        """Format the second less the first, in the order of _ROWS."""
        (_, _, first), (_, _, second) = self.results
        precision, recall, selected = difference.column(brief=brief, rows=first.stands_for)
        rates = second.fpr.value, first.fpr.value
        fpr = "" if rates[0] is None or rates[1] is None else points(rates[0] - rates[1])
        hits = f"{second.confusion.true_positives - first.confusion.true_positives:+,}"
        return precision, recall, fpr, selected, hits

    def _cautions(self) -> list[Notice]:
        return [
            *([self.alike.caution] if self.alike else []),
            *self._same_counts(),
            *self._label_cautions(),
            *self._untested_bounds(),
            *self._refuted(),
            *self._few_clusters(),
            *self._heavy_tails(),
            *self.uncorrected_tests(),
        ]

    def _untested_bounds(self) -> list[Notice]:
        """Caution that groups and segments are tested for the first of several bounds."""
        parts = [part.tested for part in self.parts if part.tested]
        first, *others = self.results[0][1].constraint.parsed().bounds
        if not parts or not others:
            return []
        untested = listed(bound.text() for bound in others)
        are = "is" if len(others) == 1 else "are"
        only = f"only {first.text()} is tested in {listed(parts)}"
        return [Notice("tested-elsewhere", f"{only}; {untested} {are} tested on all rows together.")]

    def _refuted(self) -> list[Notice]:
        targets = [measured.target_precision for measured in self.measured]
        reasons = dict.fromkeys(target.reason for target in targets if target is not None and target.reason)
        unknown = "the precision on the target data is unknown"
        return [Notice("unknown-rate", f"{unknown}: {reason}.") for reason in reasons]

    def _few_clusters(self) -> list[Notice]:
        """Caution that intervals rest on few clusters, or on few rows of large weight."""
        cautions = list[Notice]()
        for name, _, measured in self.results:
            clusters, units = measured.clusters, self.parameters.units
            if clusters is None:
                cautions += unreliable(f"{name}: precision", measured.precision)
                cautions += unreliable(f"{name}: recall", measured.recall)
                continue
            for rate, estimate, having, whose in (
                ("precision", measured.precision, clusters["clusters_flagged"], "flagged rows"),
                ("recall", measured.recall, clusters["clusters_positive"], "positive rows"),
            ):
                if having >= MIN_CLUSTERS:
                    cautions += unreliable(f"{name}: {rate}", estimate)
                cautions += few_clusters(f"{name}: {rate}", having, whose, units)
        return cautions

    def _heavy_tails(self) -> list[Notice]:
        cautions = list[Notice]()
        for name, _, measured in self.results:
            if measured.value is not None:
                cautions += measured.value.cautions(f"{name}: value")
        if self.difference is not None and self.difference.value is not None:
            cautions += self.difference.value.cautions("difference of values")
        return cautions

    def _label_cautions(self) -> list[Notice]:
        return [
            Notice("unknown-rate", f"{name}: the {rate} is unknown, since {estimate.reason}.")
            for name, _, measured in self.results
            for rate, estimate in (("recall", measured.recall), ("precision", measured.precision))
            if estimate == UNKNOWN
        ]

    def _assumption(self) -> list[str]:
        """State what is assumed of rows without a label; empty without any."""
        weighted = any(measured.weighted and measured.unlabelled for measured in self.measured)
        sampled = self.parameters.sampling_weight is True
        if not weighted or (sampled and self.parameters.assisted is not msgspec.UNSET):
            return []
        return [LABELS_OF_SAMPLE if sampled else ASSUMPTION]

    def _assistance(self) -> list[str]:
        """State which rates use the probabilities of rows without a label, and what they save."""
        if self.parameters.assisted is msgspec.UNSET:
            return []
        measured = self.measured[0]
        unlabelled = rows_of(measured.unlabelled)
        if not measured.assisted:
            return [
                f"The probabilities of {unlabelled} without a label are not used: there are too few "
                "labels, or the intervals would not be shorter."
            ]
        *most, last = (_NAMES_OF_ASSISTED[rate] for rate in measured.assisted)
        names = f"{', '.join(most)} and {last}" if most else last
        saved = [ratio for ratio in measured.assisted.values() if ratio is not None]
        saving = ""
        if saved and max(saved) > 1.05:
            rate = max(measured.assisted, key=lambda name: measured.assisted[name] or 0.0)
            saving = (
                f"; without them, an interval of the {_NAMES_OF_ASSISTED[rate]} as short as this would need "
                f"about {max(saved):.1f} times as many labels"
            )
        return [f"The estimates of {names} use the probabilities of {unlabelled} without a label{saving}."]

    def _same_counts(self) -> list[Notice]:
        same = [
            name
            for name, artifact, measured in self.results
            if all(
                getattr(measured.confusion, name) == getattr(artifact.fit, name)
                for name in ("rows", "positives", "selected", "true_positives")
            )
        ]
        return [
            Notice(
                "same-rows",
                f"{quote(name)} has the same counts here as on its calibration set, so these may be the same "
                "rows: test it on rows that it was not fitted on.",
            )
            for name in same
        ]

    def _advice(self) -> list[str]:
        """State which rule to use, if the test set can decide."""
        kept = [name for name, measured in self.named if measured.promise_broken != 1]
        if not kept:
            return ["Fit the rule again on current data before you rely on it."]
        if len(kept) < len(self.results):
            if len(kept) > MOST_NAMED:
                return [f"Use one of {first_of(kept, MOST_NAMED)}."]
            return [f"Use {' or '.join(kept)}."]
        return [] if self.difference is None else self._advice_for_two(self.difference)

    def _apply(self, name: str, rule: BoundaryArtifact) -> list[str]:
        """Return the command that applies a rule.

        There is none if it flags nothing, or the wrong end of a score, or if the rows of its fit tested it.
        """
        is_of_use = self.results[0][2].confusion.selected and REVERSED not in rule.known_doubts
        return [apply_command(name)] if is_of_use and not self._same_counts() else []

    def _advice_for_reviews(self, difference: BoundaryDifference) -> list[str]:
        """State what the additional work of one of two rules with a review finds."""
        work = [
            (measured.confusion.selected + (measured.zones.reviewed if measured.zones else 0), name, measured)
            for name, measured in self.named
        ]
        (few, less, first), (many, more, second) = sorted(work, key=lambda item: item[0])
        if difference.caught is None or not direction(difference.caught):
            return ["The positives caught do not differ significantly: use the rule with less work."]
        shares = [measured.zones.caught.value or 0 for measured in (first, second) if measured.zones]
        gain = 100 * (shares[1] - shares[0])
        points = f"{abs(gain):.3g} points {'more' if gain > 0 else 'less'}"
        rows = f"{more} flags or reviews {count(many - few)} more rows and catches {points} of the positives."
        return [rows, f"Use {more} if that is worth the work, and otherwise {less}."]

    def _advice_for_two(self, difference: BoundaryDifference) -> list[str]:
        """State how many more rows one rule flags, how many more positives it finds, and when to use it."""
        if difference.value is not None:
            return worth_more(self.names, difference.value, self._simpler())
        if difference.selected.low is None:
            return []
        if difference.caught is not None:
            return self._advice_for_reviews(difference)
        if not direction(difference.selected) and not direction(difference.recall):
            return [f"The two rules do not differ significantly: {self._simpler()}."]
        (more, many), (less, few) = sorted(
            self.named, key=lambda pair: pair[1].confusion.selected, reverse=True
        )
        more_rows, fewer = many.confusion, few.confusion
        alerts, hits = more_rows.selected - fewer.selected, more_rows.true_positives - fewer.true_positives
        advice = [f"Use {more} if its additional alerts are worth the work, and otherwise {less}."]
        if hits < 0 or alerts == 0:
            return advice
        # either rule may flag rows that the other does not, so the difference is no set of rows
        net = f"{more} flags {count(alerts)} more {'row' if alerts == 1 else 'rows'} on balance"
        return [f"{net}, and finds {count(hits)} more {'positive' if hits == 1 else 'positives'}.", *advice]

    def _simpler(self) -> str:
        """Say which of two boundaries to use if neither does better: the one with fewer thresholds."""
        first, second = (
            len(artifact.thresholds) + sum(len(rule.thresholds) for rule in artifact.group_rules.values())
            for _, artifact, _ in self.results
        )
        if first == second:
            return f"either will do, so keep {self.names[0]}"
        return f"use {self.names[0] if first < second else self.names[1]}, the simpler rule"

    def _figures(self) -> list[Figure]:
        panels = []
        constraints = [artifact.constraint.parsed() for _, artifact, _ in self.results]
        own = [  # rules of other constraints have no rate of the cleared rows
            rule
            for rule in PROMISED.values()
            if rule.own_column
            and (all if rule.is_of_cleared else any)(isinstance(each, rule) for each in constraints)
        ]
        for rule in (*own, *(rule for rule in PROMISED.values() if not rule.own_column)):
            measured = [
                (name, evaluated.rate(*rule.rates), _target(artifact, rule))
                for name, artifact, evaluated in self.results
            ]
            panels.append((rule.name.capitalize(), measured))
        zones = [
            (name, evaluated.zones.caught, _least_caught(artifact))
            for name, artifact, evaluated in self.results
            if evaluated.zones is not None
        ]
        if len(zones) == len(self.results):
            panels[-1:] = [("Positives flagged or reviewed", zones)]
        return [rates_figure(panels, self.parameters.confidence)]

    def _notes(self) -> list[str]:
        _, _, first = self.results[0]
        rows, positives = rows_of(first.confusion.rows), count(first.confusion.positives)
        dropped = f", {count(self.source.dropped)} dropped" if self.source.dropped else ""
        level = f"{100 * self.parameters.confidence:g} % CI"
        return [
            f"Test set: {rows}, {positives} positive{dropped}; all intervals are {level}.",
            *([] if self._same_counts() else [OWN_DATA_CAUTION]),
        ]


_NAMES_OF_ASSISTED: Final = {
    **{rate: rule.name for rate, rule in PROMISED.items()},
    "prevalence": "positive rate",
}


def _target(artifact: BoundaryArtifact, rule: type[PromisedRate]) -> float | None:
    bounds = artifact.constraint.parsed().bounds
    return next((float(bound.value) for bound in bounds if isinstance(bound, rule)), None)


def _least_caught(artifact: BoundaryArtifact) -> float | None:
    """Return the share of positives that a rule must flag or review; None if it has no such target."""
    review = artifact.review
    if review is None or review.kind is not ReviewKind.MISS:
        return None
    return float(1 - review.limit.number)


def _finds(measured: MeasuredBoundary) -> str:
    """State what a rule finds, and its precision: of few flagged rows how many are right."""
    recall, confusion = percent(measured.recall.value), measured.confusion
    if 0 < confusion.selected < FEWEST_FLAGGED and measured.weighted is None:
        right = f"{count(confusion.true_positives)} of {count(confusion.selected)} flagged rows are right"
        return f"finds {recall} of positives, and {right}"
    return f"finds {recall} of positives at precision {percent(measured.precision.value)}"


GROUP_HEADER = ("flagged", "precision", "recall")
"""Names of the cells of a group."""


def group_header(tested: Constraint) -> tuple[str, ...]:
    """Return the names of the cells of a group that is tested for a bound."""
    return (*GROUP_HEADER, tested.own_column) if tested.own_column else GROUP_HEADER


def group_cells(measured: MeasuredBoundary, tested: Constraint) -> tuple[str, ...]:
    """Format the results of a group, in the order of its header, and the value if there are amounts."""
    rate = percent(measured.selected_share)
    value = () if measured.value is None else measured.value.cells()[:1]
    other = (interval(measured.rate(*tested.rates)),) if tested.own_column else ()
    return rate, interval(measured.precision), interval(measured.recall), *other, *value


_ROWS = ("precision", "recall", "FPR", "flagged", "true positives")
_ZONE_ROWS = ("caught", "missed", "reviewed")


def _row(name: str, estimates: Sequence[Estimate | None]) -> list[tuple[str, ...]]:
    """Build the row of a rate with a cell of each rule; no row if no rule has it."""
    cells = ["" if estimate is None else interval(estimate) for estimate in estimates]
    return [(name, *cells)] if any(estimates) else []


def _zone_cells(measured: MeasuredBoundary) -> tuple[str, ...]:
    """Format the cells of a rule's review, in the order of _ZONE_ROWS."""
    zones = measured.zones
    if zones is None:
        return ("", "", "")
    reviewed = f"{count(zones.reviewed)} ({percent(zones.review_share.value or 0)})"
    return interval(zones.caught), interval(zones.miss), reviewed


def _column(measured: MeasuredBoundary) -> tuple[str, ...]:
    """Format the cells of one rule, in the order of _ROWS."""
    return (
        interval(measured.precision),
        interval(measured.recall),
        interval(measured.fpr),
        f"{count(measured.confusion.selected)} ({measured.by_weight}{percent(measured.selected_share)})",
        count(measured.confusion.true_positives),
    )
