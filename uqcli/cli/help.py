"""Help: the question that each command answers, its examples, what a misspelt word may mean, the layout."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import Any, Final

from uqcli.base.options import PAPERS
from uqcli.base.wording import similar_names

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
        "backtest": (
            "uqcli backtest scored.csv --day day --precision 0.5",
            "uqcli backtest scored.csv --day day --top 20 --report top.html",
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
    }
)
"""Examples by command; tests/cli/test_help.py runs them."""

HELP: Final = (
    "Decision thresholds, calibration and prediction sets from saved predictions.\n\n"
    "uqcli FILE shows what a file holds and what to do next. "
    "uqcli COMMAND --help shows examples and options."
)
"""Help of the program."""

QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: question
        for question, names in {
            "What is in my file?": ("overview",),
            "Which rows should I flag, and will that last?": ("boundary", "backtest", "bin"),
            "Can I trust the probabilities?": ("tce", "calibrate"),
            "Which classes are plausible, and did their priors change?": ("conformal", "shift"),
            "How do I use and check a saved rule?": (
                "apply",
                "evaluate",
                "sample",
                "watch",
                "show",
                "export",
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


_COMMANDS: Final = {
    "fit": ("boundary", "calibrate"),
    "train": ("boundary", "calibrate"),
    "predict": ("apply",),
    "score": ("apply",),
    "test": ("evaluate", "tce"),
    "compare": ("evaluate",),
    "metrics": ("evaluate",),
    "threshold": ("boundary",),
    "thresholds": ("boundary",),
    "calibration": ("tce", "calibrate"),
    "reliability": ("tce",),
    "monitor": ("watch",),
    "drift": ("watch",),
    "label": ("sample",),
}
"""Commands to suggest for names that other programs use."""

_REMOVED: Final = {
    "simulate": "to try uqcli, take a file of sample_data/ in its source code, such as "
    "sample_data/census_calibration.parquet, which sample_data/README.md describes"
}
"""What to do in place of commands of earlier versions."""

_OPTIONS: Final = {
    "--threshold": ("--precision", "--recall", "--max-fpr", "--max-selected"),
    "--cutoff": ("--precision", "--recall", "--max-fpr", "--max-selected"),
    "--fpr": ("--max-fpr",),
    "--budget": ("--max-selected",),
    "--coverage": ("--alpha",),
    "--target": ("--label",),
    "--probability": ("--score", "--proba"),
    "--prediction": ("--score",),
    "--group": ("--by",),
    "--groups": ("--by",),
    "--weights": ("--weight",),
    "--out": ("--output",),
    "--bootstraps": ("--bootstrap",),
    "--jobs": ("--threads",),
    "--sep": ("--delimiter",),
}
"""Options to suggest for names that other programs use."""


def meant_command(word: str, commands: Iterable[str]) -> str:
    """Return what to type in place of a word that is no command; empty if that is unknown."""
    if word in _REMOVED:
        return _REMOVED[word]
    if "." in word or "/" in word:
        return "no file has this name either"
    return _did_you_mean(_COMMANDS.get(word) or _similar(word, list(commands)))


def meant_option(word: str, options: Sequence[str]) -> str:
    """Return what to type in place of a word that is no option of a command; empty if that is unknown."""
    meant = [option for option in _OPTIONS.get(word, ()) if option in options]
    if not meant and word in ("--threshold", "--cutoff"):
        return "thresholds are those of the rule file"
    by_name = {option.lstrip("-"): option for option in options}
    similar = [by_name[name] for name in _similar(word.lstrip("-"), list(by_name))]
    return _did_you_mean(meant or similar)


def meant_choice(word: str, choices: Sequence[str]) -> str:
    """Return what to type in place of a word that is no choice of an option; empty if that is unknown."""
    return _did_you_mean(_similar(word, choices))


def _similar(word: str, names: Sequence[str]) -> list[str]:
    return similar_names(word.lower(), names)


def _did_you_mean(names: Sequence[str]) -> str:
    return f"did you mean {' or '.join(names)}?" if names else ""


def short_help(parameters: list[Any], common: Collection[str]) -> list[Any]:
    """Return the arguments, and the options of the short help under one heading."""
    arguments = [parameter for parameter in parameters if parameter.param_type_name == "argument"]
    options = [copy(parameter) for parameter in parameters if parameter.name in common]
    for option in options:
        option.rich_help_panel = "Common options"
    return [*arguments, *options]


def in_order_of_help(parameters: list[Any], of_papers: Mapping[str, str]) -> list[Any]:
    """Move what is of papers to the end, with another row and its help for each option with such values."""
    rows = [copy(parameter) for parameter in parameters if parameter.name in of_papers]
    for row in rows:
        row.help, row.rich_help_panel, row.show_default = of_papers[row.name], PAPERS, False
    return sorted([*parameters, *rows], key=lambda parameter: parameter.rich_help_panel == PAPERS)
