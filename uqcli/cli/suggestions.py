"""What a misspelt or foreign word of a command line may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

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

_CUTOFF: Final = 0.75
_MOST: Final = 3


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
    return difflib.get_close_matches(word.lower(), names, n=_MOST, cutoff=_CUTOFF)


def _did_you_mean(names: Sequence[str]) -> str:
    return f"did you mean {' or '.join(names)}?" if names else ""
