"""Only constraints know which kind they are: other modules ask them what follows from it."""

import ast
from pathlib import Path

import pytest

import uqcli
from uqcli.boundary.search.constraint_kinds import PROMISED, RULES, PromisedRate

ROOT = Path(uqcli.__file__).parent

OWN = {
    "boundary/search/constraint.py", "boundary/search/constraint_kinds.py",
    "boundary/search/typed_constraints.py", "boundary/search/utility.py", "boundary/search/zones.py",
}  # fmt: skip
"""Modules of constraints, and of the limits of a review."""

MEASURES = {"estimates/confusion.py"}
"""The module that says what every rate is, whether or not a constraint limits it."""

NAMING = {
    "boundary/rule_file.py": "a recall beside a precision has a field of its own in saved rules",
    "boundary/operating_points.py": "the operating points of a page are precisions and numbers of alerts",
    "boundary/targets_report.py": "the usual targets are precisions and shares of alerts",
}
"""Modules that name kinds: of files as they are, and of usual targets, which make constraints."""

ENUMS = {"Rate", "ConstraintKind"}
HOLDERS = {"constraint", "bound", "candidate", "asked"}
ASKED = {"kind", "rate", "rates"}


def member_of(node):
    """Return the enum of which a node names a member, if it is one of ENUMS."""
    is_member = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return node.value.id if is_member and node.value.id in ENUMS and node.attr.isupper() else ""


def is_asked(node):
    """Whether a node is the kind or the rate of a constraint, by the name of what holds it."""
    if not isinstance(node, ast.Attribute) or node.attr not in ASKED:
        return False
    return getattr(node.value, "attr", getattr(node.value, "id", "")) in HOLDERS


def comparisons(tree):
    """Yield the lines that compare with a kind or a rate, or that look up what belongs to one."""
    for node in ast.walk(tree):
        sides = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            sides = [node.pattern]
        named = any(member_of(below) for side in sides for below in ast.walk(side))
        texts = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)
        if named or (texts and any(map(is_asked, sides))):
            yield (node if isinstance(node, ast.Compare) else node.pattern).lineno


TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in ROOT.rglob("*.py")}


def test_no_module_compares_with_the_kind_or_the_rate_of_a_constraint():
    others = {
        name: tree for name, tree in TREES.items() if name not in OWN | MEASURES | {"boundary/rule_file.py"}
    }
    asked = [f"{name}:{line}" for name, tree in others.items() for line in comparisons(tree)]
    assert not asked


def test_only_what_makes_constraints_names_their_kinds():
    naming = {
        name
        for name, tree in TREES.items()
        if any(member_of(node) == "ConstraintKind" for node in ast.walk(tree))
    }
    assert naming - OWN == set(NAMING)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("constraint.rate is Rate.PRECISION", True),
        ("self.constraint.kind is not ConstraintKind.UTILITY", True),
        ("bound.rate in {Rate.FPR, Rate.SPECIFICITY}", True),
        ("request.constraint.kind == 'precision'", True),
        ("match rate:\n    case Rate.FPR:\n        pass", True),
        ("constraint.takes_margin", False),
        ("limit.kind is ReviewKind.MISS", False),
        ("totals.trials(Rate.OMISSION)", False),
        ("constraint.kind != expected.kind", False),
    ],
)
def test_comparisons_are_recognised(text, is_refused):
    assert bool(list(comparisons(ast.parse(text)))) == is_refused


def test_a_rate_is_promised_by_one_kind_of_constraint():
    promised = [rule for rule in RULES.values() if issubclass(rule, PromisedRate)]
    assert sum(len(rule.rates) for rule in promised) == len(PROMISED)
