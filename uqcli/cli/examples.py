"""Help of each command: the question that it answers, and examples."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EXAMPLES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "bin": (
            "uqcli bin holdout.csv -o grid.json",
            "uqcli bin holdout.csv --uncertainty-bins 2 --report bins.html",
        ),
        "overview": (
            "uqcli holdout.csv",
            "uqcli overview holdout.csv --score old_model,new_model --report overview.html",
        ),
        "boundary": (
            "uqcli boundary holdout.csv --precision 0.9 -o boundary.json",
            "uqcli boundary holdout.csv --precision 0.9 --compare --report boundary.html",
        ),
        "calibrate": (
            "uqcli calibrate holdout.csv -o calibrator.json",
            "uqcli calibrate holdout.csv --method all -o best.json --report methods.html",
        ),
        "tce": (
            "uqcli tce new.csv --report calibration.html",
            'uqcli tce new.csv --fail-if "ece > 0.2" --report tests.xml',
        ),
        "shift": (
            'uqcli shift classes.csv --target today.csv --proba "p_*" -o shift.json',
            'uqcli shift classes.csv --target today.csv --proba "p_*" --report shift.html',
        ),
        "conformal": (
            'uqcli conformal classes.csv --proba "p_*" --alpha 0.1 -o sets.json',
            'uqcli conformal classes.csv --proba "p_*" --mode label-conditional -o s.json',
        ),
        "apply": (
            "uqcli apply boundary.json new.csv -o decisions.csv",
            "cat new.csv | uqcli apply boundary.json - > decisions.csv",
        ),
        "evaluate": (
            'uqcli evaluate boundary.json new.csv --fail-if "precision.low < 0.8"',
            "uqcli evaluate old.json boundary.json new.csv --report comparison.html",
        ),
        "sample": (
            "uqcli sample boundary.json new.csv --for precision --budget 100 -o label.csv",
            "uqcli sample boundary.json new.csv --for recall --plan 0.2",
        ),
        "watch": (
            "uqcli watch boundary.json new.csv --state watch.json",
            "uqcli watch boundary.json new.csv --state w.json --report w.html",
        ),
        "uncertainty": (
            'uqcli uncertainty ensemble.csv --members "m_*" -o rows.parquet',
            "uqcli uncertainty beta.csv --alpha1 a --alpha0 b -o rows.csv",
        ),
        "show": ("uqcli show boundary.json", "uqcli show old.json boundary.json --on new.csv"),
        "export": (
            "uqcli export boundary.json --to sql --dialect postgres --table scored",
            "uqcli export boundary.json --to python -o rule.py --check new.csv",
        ),
        "schema": ("uqcli schema boundary", "uqcli schema conformal > conformal.schema.json"),
    }
)
"""Examples by command; tests/cli/test_help.py runs them."""

QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: question
        for question, names in {
            "What is in my file?": ("overview",),
            "Which rows should I flag?": ("boundary", "bin"),
            "Can I trust the probabilities?": ("tce", "calibrate"),
            "Which classes are plausible, and did their priors change?": ("conformal", "shift"),
            "How do I use and check a saved rule?": (
                "apply",
                "evaluate",
                "sample",
                "watch",
                "show",
                "export",
                "schema",
            ),
            "Where do I get uncertainties?": ("uncertainty",),
        }.items()
        for name in names
    }
)
"""Question by command: the headings of the program's help."""


def with_examples(name: str, summary: str | None) -> str:
    """Build the help of a command: summary, of which ``PYTHONOPTIMIZE=2`` leaves none, and examples."""
    return "\n\n".join([(summary or "").strip(), "Examples:\n" + "\n".join(EXAMPLES[name])])
