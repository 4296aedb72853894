"""Tests of constraints: parsing, wording and objective."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from uqcli.base.errors import UsageError
from uqcli.boundary.certificate import least_rates
from uqcli.boundary.rule_file import SavedConstraint
from uqcli.boundary.rule_words import Holes, answer
from uqcli.boundary.search.constraint_kinds import PROMISED, RULES, ConstraintKind, PromisedRate
from uqcli.boundary.search.goals import KeepRecall
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.boundary.search.utility import utility
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.design import too_few_labels

PRECISION, RECALL, UTILITY = ConstraintKind.PRECISION, ConstraintKind.RECALL, ConstraintKind.UTILITY
MAX_SELECTED, MAX_FPR = ConstraintKind.MAX_SELECTED, ConstraintKind.MAX_FPR
MIN_SPECIFICITY = ConstraintKind.MIN_SPECIFICITY


@pytest.mark.parametrize(
    ("kind", "text", "amounts", "target"),
    [
        (PRECISION, "0.7", (Fraction(7, 10),), "precision >= 70 %"),
        (RECALL, "1", (Fraction(1),), "recall >= 100 %"),
        (MAX_SELECTED, "30", (Fraction(30),), "at most 30 flagged"),
        (MAX_SELECTED, "2.5%", (Fraction(1, 40),), "at most 2.5 % flagged"),
        (MAX_FPR, "0", (Fraction(0),), "false-positive rate <= 0 %"),
        (MIN_SPECIFICITY, "0.95", (Fraction(19, 20),), "specificity >= 95 %"),
        (UTILITY, "gain=2.5,cost=1", (Fraction(5, 2), Fraction(1)), "highest utility (gain=2.5,cost=1)"),
    ],
)
def test_a_constraint_is_exact_and_states_its_target(kind, text, amounts, target):
    constraint = parse_constraint(kind, text)
    assert (constraint.kind, constraint.value, constraint.numbers) == (kind, text, amounts)
    assert constraint.text() == target
    assert constraint.is_share == text.endswith("%")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (PRECISION, "0"),
        (PRECISION, "1.1"),
        (RECALL, "0"),
        (MAX_FPR, "2"),
        (MIN_SPECIFICITY, "-0.1"),
        (MIN_SPECIFICITY, "1.1"),
        (MAX_SELECTED, "2.5"),
        (MAX_SELECTED, "101%"),
        (UTILITY, "gain=1"),
        (UTILITY, "gain=0.0000000001,cost=1"),
    ],
)
def test_values_out_of_range_are_refused(kind, text):
    with pytest.raises(UsageError):
        parse_constraint(kind, text)


def test_the_objective_depends_on_the_constraint():
    fit = Confusion(selected=4, true_positives=3, rows=9, positives=5)
    assert parse_constraint(PRECISION, "0.5").objective(fit) == 3
    assert parse_constraint(RECALL, "0.5").objective(fit) == Fraction(3, 4)
    assert utility("2", "0.5").objective(fit) == Fraction(11, 2)


@pytest.mark.parametrize("rate", Rate)
def test_the_outcomes_of_rows_add_up_to_the_trials_of_their_counts(rate):
    random = np.random.default_rng(1)
    flagged, reviewed, positive = random.random((3, 500)) < [[0.3], [0.2], [0.2]]
    caught = flagged | reviewed
    confusion = Confusion(
        rows=500,
        positives=int(positive.sum()),
        selected=int(flagged.sum()),
        true_positives=int((flagged & positive).sum()),
        zones=(int((caught & ~flagged).sum()), int((caught & positive).sum())),
    )
    tried, succeeded = rate.outcomes(flagged, caught, positive)
    assert (succeeded.sum(), tried.sum()) == confusion.trials(rate)
    assert not (succeeded & ~tried).any()


def test_without_a_review_what_is_not_flagged_is_cleared():
    counts = Confusion(rows=9, positives=5, selected=4, true_positives=3)
    assert counts.trials(Rate.CAUGHT) == counts.trials(Rate.RECALL) == (3, 5)
    assert counts.trials(Rate.MISSED) == (2, 5)
    assert (counts.trials(Rate.OMISSION), counts.trials(Rate.REVIEWED)) == ((2, 5), (0, 9))


def test_an_upper_bound_is_kept_by_the_rows_without_the_event():
    confusion = Confusion(selected=4, true_positives=3, rows=9, positives=5)
    for rate, rule in PROMISED.items():
        successes, trials = confusion.trials(Rate(rate))
        kept = trials - successes if rule.is_upper else successes
        assert confusion.trials(rule.kept) == (kept, trials)
        assert all((rule.name, rule.guarantee, rule.result, rule.trials, rule.success, rule.converted)), rate


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (PRECISION, "1"),
        (RECALL, "0.5"),
        (MAX_FPR, "0"),
        (MAX_FPR, "1"),
        (MIN_SPECIFICITY, "0"),
        (MIN_SPECIFICITY, "1"),
        (MAX_SELECTED, "40"),
        (MAX_SELECTED, "5%"),
    ],
)
def test_nearby_bounds_are_possible_and_include_its_own(kind, text):
    constraint = parse_constraint(kind, text)
    counts_rows = constraint.limits_alerts and not constraint.is_share
    share = Fraction(1, 2) if counts_rows else Fraction(1)
    nearby = [near.numbers[0] for near in constraint.nearby(Fraction(1, 2))]
    assert constraint.numbers[0] * share in nearby
    assert counts_rows or all(0 <= bound <= 1 for bound in nearby)
    assert utility("2", "1").nearby(Fraction(1, 2)) == [utility("2", "1")]


@pytest.mark.parametrize(("bound", "least"), [("0", "1"), ("0.02", "0.98"), ("0.97", "0.03"), ("1", "0")])
def test_a_specificity_is_the_mirror_of_a_false_positive_rate(bound, least):
    specificity, rate = parse_constraint(MIN_SPECIFICITY, least), parse_constraint(MAX_FPR, bound)
    assert specificity.numbers[0] == 1 - rate.numbers[0]
    assert [1 - near.numbers[0] for near in specificity.nearby(Fraction(1))] == [
        near.numbers[0] for near in rate.nearby(Fraction(1))
    ]
    assert specificity.kept is rate.kept is Rate.SPECIFICITY


def test_each_kind_of_constraint_names_its_options():
    assert [rule.options for kind, rule in RULES.items() if kind is not UTILITY] == [
        f"--{kind}" for kind in RULES if kind is not UTILITY
    ]


class MinNpv(PromisedRate):
    """A kind that says no more than it must: the negatives among the rows that are not flagged."""

    kind, options, wording, name = "min-npv", "--min-npv", "NPV >= {}", "NPV"
    rates, kept = (Rate.NPV,), Rate.NPV
    guarantee, result, trials = "NPV is at least {:g} %", "cleared rows are negative", "cleared rows"

    def goal_alone(self, cells):
        return KeepRecall(minimum=cells.positives)


def test_a_new_kind_answers_all_that_follows_from_it():
    bound = MinNpv.read("80%")
    fit = Confusion(rows=10, positives=4, selected=4, true_positives=2)
    assert (bound.value, bound.numbers, bound.text()) == ("0.8", (Fraction(4, 5),), "NPV >= 80 %")
    assert (bound.is_met(fit), bound.missed(fit)) == (False, "NPV 67 % (4 of 6), below 80 %")
    assert least_rates(bound) == ((Rate.NPV, Fraction(4, 5)),)
    assert (bound.target(), bound.aim()) == ("target NPV >= 80 %", "the highest recall with NPV >= 80 %")
    assert (bound.easier, bound.arguments) == ("lower the target", ("--min-npv", "0.8"))
    assert [near.numbers[0] for near in bound.nearby(Fraction(1))] == [
        Fraction(18, 25), Fraction(4, 5), Fraction(22, 25)
    ]  # fmt: skip
    assert (bound.objective(fit), bound.value_of(fit), bound.cautions(fit, 10)) == (2, {}, [])
    both = replace(parse_constraint(PRECISION, "0.9"), also=(bound,))
    assert both.joint_shortfall(fit, "st") == (
        "no boundary has precision >= 90 % and NPV >= 80 %; the closest has precision 50 % (2 of 4), below "
        "90 % and NPV 67 % (4 of 6), below 80 %, at recall 50 % (4 flagged)"
    )
    assert (both.easier, both.leaves_recall(fit)) == ("relax a bound", True)


def test_a_saved_constraint_is_parsed_once():
    assert (
        SavedConstraint(kind=RECALL, value="0.7").parsed()
        is SavedConstraint(kind=RECALL, value="0.7").parsed()
    )
    for _ in range(2):
        with pytest.raises(UsageError, match="recall is '7'"):
            SavedConstraint(kind=RECALL, value="7").parsed()


def test_a_single_row_is_no_rows():
    one = Confusion(rows=1, positives=1, selected=1, true_positives=1)
    assert answer(one, Holes(flagged=(one.selected, one.rows))).startswith("Flags 1 of 1 row (100 %)")
    assert too_few_labels(0, 0) == "only 0 rows of the file are not flagged (100 needed)"
