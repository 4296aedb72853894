"""Find the columns that a command needs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from uqcli.base import defaults
from uqcli.base.errors import DataError, Opt, UsageError, Words, words
from uqcli.base.operating_system import quote
from uqcli.base.wording import first_of, listed, similar_names
from uqcli.engines.refusals import FormError
from uqcli.engines.request import Roles

_MAX_LENGTH_DIFFERENCE: Final = 1
"""Characters that a misspelt name may have more or fewer: two can negate it (certainty, uncertainty)."""


class MissingColumnError(FormError):
    """Required columns of some roles are missing; of the misspelt ones, there are similar names."""

    def __init__(
        self, roles: Collection[str], found: Words, *, remedy: Words, misspelt: Collection[str] = ()
    ) -> None:
        super().__init__(found, remedy=remedy)
        self.roles = frozenset(roles)
        self.misspelt = frozenset(misspelt)


class LabelTwiceError(UsageError):
    """The column of the labels also has another role."""

    def __init__(self, role: str, column: str) -> None:
        super().__init__(
            words("--label and {} both name the column '{}'", _option_of(role), column),
            expected="different columns: new rows have no label",
            remedy=words("give {} or --label another COLUMN", _option_of(role)),
        )
        self.roles = frozenset({role})


@contextmanager
def key_named_by(column: str | None, option: Opt) -> Iterator[None]:
    """Let the error of a key column that is missing or the label name another option than ``--by``."""
    role = f"by.{column}"
    try:
        yield
    except (MissingColumnError, LabelTwiceError) as error:
        if role in error.roles:
            error.rename(Opt("by"), option)
        raise


def _option_of(role: str) -> Opt:
    """Return the option that names the column of a role."""
    return Opt(role.removeprefix("-").partition(".")[0])


def identifying_columns(inputs: Sequence[Sequence[str]], roles: Roles) -> tuple[str, ...]:
    """Return columns in which equal rows of several inputs may be recognised: an id, or a few others."""
    read = {*_SCORED, *roles.all_numbers().values(), roles.label, roles.weight}
    shared = sorted(set(inputs[0]).intersection(*inputs[1:]) - read)
    ids = [name for name in shared if name.lower() == "id" or name.lower().endswith("_id")]
    return tuple(ids[:1] or shared[:_MOST_IDENTIFYING])


_SCORED: Final = ("score", "uncertainty")
"""Usual names of columns that differ between models, whether a command reads them or not."""

_MOST_IDENTIFYING: Final = 3
"""Reading more columns would take longer than the command."""


def resolved_roles(roles: Roles, inputs: Sequence[tuple[str, Sequence[str]]]) -> Roles:
    """Decide on optional columns by those of the inputs, and check that each has every required one once.

    Inputs are the name of each, for messages, and its columns. A column that is missing is a
    MissingColumnError, which suggests similar names; one that appears twice is a DataError, and a label with
    another role a LabelTwiceError.
    """
    columns = [columns for _, columns in inputs]
    roles = _without_optional(roles, columns).adopted(columns)
    _require_label_alone(roles)
    for name, columns_of_input in inputs:
        _require_columns(columns_of_input, name, roles)
    return roles


def _without_optional(roles: Roles, inputs: Sequence[Sequence[str]]) -> Roles:
    """Drop an optional uncertainty that no input has; a column with a similar name may be it."""
    name = roles.numbers.get("uncertainty")
    if not roles.may_lack_uncertainty or name is None:
        return roles
    if any(name in columns or _similar(name, columns) for columns in inputs):
        return roles
    return roles.without("uncertainty")


def _require_columns(columns: Sequence[str], source: str, roles: Roles) -> None:
    times = Counter(columns)
    missing = {
        role.removeprefix("-"): name for role, name in roles.column_by_role().items() if name not in times
    }
    if missing:
        raise _missing(columns, source, missing)
    for name in roles.column_by_role().values():
        if times[name] > 1:
            raise DataError(
                f"column '{name}' appears {times[name]} times in {source}",
                expected="unique names",
                remedy="rename one of these columns, or leave it out of the file",
            )


def _require_label_alone(roles: Roles) -> None:
    """Refuse the label as score, group or the like: a rule that reads the answer is no rule for new rows."""
    for role, name in roles.column_by_role().items():
        if name == roles.label and role != "label":
            raise LabelTwiceError(role, name)


def require_id(columns: Sequence[str], source: str, name: str, option: str = "on") -> None:
    """Check that the column of an option exists, for labels from a second file."""
    if name not in columns:
        raise _missing(columns, source, {option: name})


def require_no_label(columns: Sequence[str], source: str, label: str) -> None:
    """Refuse labels in an input beside those of a second file."""
    if label in columns:
        raise DataError(
            words("{} has a column '{}', and --labels gives another", source, label),
            expected="labels in one place",
            remedy=words("drop --labels, or rename one of the columns"),
        )


def _missing(columns: Sequence[str], source: str, name_by_role: Mapping[str, str]) -> MissingColumnError:
    """Create the error for all columns that an input lacks, by role."""
    names = [f"'{name}'" for name in dict.fromkeys(name_by_role.values())]
    shown = [column or "''" for column in columns]
    missing = f"column{'s' if len(names) > 1 else ''} {listed(names)}"
    remedies = {role: _remedy(columns, role, name) for role, name in name_by_role.items()}
    return MissingColumnError(
        name_by_role,
        f"no {missing} in {source}, which has {first_of(shown, 12) if shown else 'no columns'}",
        remedy=_joined(remedies),
        misspelt=[role for role, name in name_by_role.items() if _similar(name, columns)],
    )


def _joined(remedies: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Join what to do about several roles, without what is said for another one."""
    texts = {role: "".join(remedy) for role, remedy in remedies.items()}
    unknown = [role for role, text in texts.items() if text.startswith(_ONE) and len(remedies) > 1]
    known = {texts[role]: remedy for role, remedy in remedies.items() if role not in unknown}
    said = [
        tuple(remedy) for text, remedy in known.items() if not any(text in other != text for other in known)
    ]
    if unknown:
        others = [_option_of(role) for role in unknown]
        which = "the others" if said else "them"
        names = words(listed(["{}"] * len(others)), *others)
        said.append(words("name {} with {}", which, names))
    return words(", and ".join(["{}"] * len(said)), *said)


def _remedy(columns: Sequence[str], role: str, name: str) -> tuple[str, ...]:
    """Say which option names the column that a role lacks, and which one it may be."""
    names = _similar(name, columns)
    guess = f"did you mean {' or '.join(_shown(other, name) for other in names)}? " if names else ""
    usual = () if names else _usual_options(columns, role, name)
    kind = _VALUES.get(role.partition(".")[0])
    joined = "," in name and all(part.strip() in columns for part in name.split(","))
    meant = "it" if names or joined else "one of them"
    option = words("name {} with {}", meant, _option_of(role))
    if usual or kind:
        option = words("give {}", usual or words("{} {}", _option_of(role), kind))
    if any(_is_composed_otherwise(other, name) for other in names):
        guess = f"{guess}rename it, since its characters only look alike, or "
    if joined:
        option = words("{} takes one column: write their values into one, and {}", _option_of(role), option)
        guess = ""
    if len(columns) == 1 and (marks := [mark for mark in ";\t|" if mark in columns[0]]):
        mark = "tab" if marks[0] == "\t" else quote(marks[0])
        option = words("give --delimiter {}, if it separates the columns", mark)
    if role == name == "score" and not names and (pattern := class_pattern(columns)):
        option = words("{}, or give --proba {} for class probabilities", option, quote(pattern))
    return words("{}{}", guess, option)


_ONE: Final = "name one of them with "

_VALUES: Final = {"proba": "PATTERN", "gain": "NUMBER or COLUMN", "cost": "NUMBER or COLUMN"}
"""Values of options that do not take a column alone, by role."""


def class_pattern(columns: Sequence[str]) -> str:
    """Return a pattern of columns that are named alike, as class probabilities are; empty if none are."""
    matches = (re.fullmatch(r"(.*\D)\d+|((?:p|prob|proba|score)_).+", column) for column in columns)
    prefixes = Counter(match[1] or match[2] for match in matches if match)
    prefix, number = max(prefixes.items(), key=lambda item: item[1], default=("", 0))
    return f"{prefix}*" if number > 1 else ""


def require_same_columns(inputs: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Refuse inputs of different columns; each is given by its name, for messages, and its columns."""
    (first_source, first), *others = inputs
    for source, columns in others:
        if differing := set(first) ^ set(columns):
            raise DataError(
                f"columns of {source} differ from {first_source}: {', '.join(sorted(differing))}",
                expected="the same columns in every input",
                remedy=words("give --union to fill missing ones with nulls"),
            )


def shared_names(inputs: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns that all inputs have, in the order of the first, without those that it repeats."""
    shared = set(inputs[0]).intersection(*inputs[1:])
    times = Counter(inputs[0])
    return [name for name in inputs[0] if name in shared and times[name] == 1]


def looked_at(names: Sequence[str], named: Collection[str]) -> list[str]:
    """Return the columns whose values show what they are: the first ones, and those that are named.

    Each costs a fraction of a millisecond, and a file may have a hundred thousand.
    """
    first = names[: defaults.MAX_LOOKED_AT]
    return [*first, *(name for name in names[len(first) :] if name in named)]


def usually_named(columns: Sequence[str], role: str) -> list[str]:
    """Return the columns whose names are usual for the score or the label, the most usual first."""
    folded = {column: column.casefold() for column in columns}
    names = (role, *_USUAL[role])
    exact = sorted(
        (column for column in columns if folded[column] in names), key=lambda c: names.index(folded[c])
    )
    formed = [
        column for column in columns if column not in exact and _USUAL_FORMS[role].fullmatch(folded[column])
    ]
    if len(formed) == 2 and {name[-1:] for name in formed} == {"0", "1"} and formed[0][:-1] == formed[1][:-1]:
        formed = [name for name in formed if name.endswith("1")]  # of two classes, the positive one
    return exact or formed


def has_usual_name(column: str) -> bool:
    """Whether the name of a column is one of a score or of a label."""
    return any(usually_named([column], role) for role in _USUAL)


def _usual_options(columns: Sequence[str], role: str, name: str) -> tuple[str, ...]:
    """Return options with the usual names of scores and labels that the input has; empty if it has none."""
    if role not in _USUAL or name != role:  # a typed name was meant
        return ()
    usual = {
        other: usually_named(columns, other) for other in _USUAL if other == role or other not in columns
    }
    if not usual[role]:
        return ()
    options = [words("{} {}", Opt(other), quote(named[0])) for other, named in usual.items() if named]
    return words(" ".join(["{}"] * len(options)), *options)


_USUAL: Final = {
    "score": (
        *("scores", "prob", "proba", "probability", "p", "pred", "prediction", "y_score", "y_prob"),
        *("y_proba", "y_pred", "p_hat", "phat", "pd", "risk", "risk_score", "model_score", "logit"),
    ),
    "label": (
        *("labels", "y", "y_true", "target", "class", "truth", "ground_truth", "outcome", "actual"),
        *("response", "is_fraud", "fraud", "default", "churn", "converted", "clicked"),
    ),
}
"""Usual names of columns, without regard to case, by role; the first is taken."""

_USUAL_FORMS: Final = {
    "score": re.compile(r".+[_ .-](score|prob|proba|probability|pd)|(score|prob|proba|probability)[_ .-].+"),
    "label": re.compile(r".+[_ .-](label|target|true|flag)|(label|target|is|has)[_ .-].+"),
}
"""Forms of further names, for columns of which none has a usual name."""

_INDEX: Final = re.compile(r"|unnamed: \d+|index|level_\d+|__index_level_\d+__|\.\.\.\d+")


def is_index(column: str) -> bool:
    """Whether a column has the name by which pandas or R write the numbers of the rows.

    Examples
    --------
    >>> [is_index(name) for name in ("Unnamed: 0", "__index_level_0__", "", "...1", "age")]
    [True, True, True, True, False]
    """
    return _INDEX.fullmatch(column.casefold()) is not None


def _similar(name: str, columns: Sequence[str]) -> list[str]:
    """Return columns whose names may be meant by a name."""
    return _alike(name, columns) or _misspelt(name, columns)


def _alike(name: str, columns: Sequence[str]) -> list[str]:
    """Return columns that differ from a name only in blanks around it, in unseen or composed characters."""
    seen = _seen(name)
    return [column for column in columns if _seen(column) == seen]


def _seen(name: str) -> str:
    text = unicodedata.normalize("NFKC", name)
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf").strip().casefold()


def _shown(column: str, name: str) -> str:
    """Quote a column, with escapes where it would look like the name in place of which it is suggested."""
    return ascii(column) if _is_composed_otherwise(column, name) else repr(column)


def _is_composed_otherwise(column: str, name: str) -> bool:
    """Whether two names look alike, but accents are parts of letters in one of them only."""
    return unicodedata.normalize("NFC", column) == unicodedata.normalize("NFC", name)


def _misspelt(name: str, columns: Sequence[str]) -> list[str]:
    """Suggest columns for a misspelt name; a name with other words or numbers is not suggested."""
    words = _words(name)
    column_by_folded = {column.casefold(): column for column in columns if _words(column) == words}
    return [
        column_by_folded[candidate]
        for candidate in similar_names(name.casefold(), column_by_folded)
        if abs(len(candidate) - len(name)) <= _MAX_LENGTH_DIFFERENCE
    ]


def _words(name: str) -> tuple[int, list[str]]:
    """Return the number of words in a name, and its numbers."""
    return len(re.findall(r"[^\W_]+", name)), re.findall(r"\d+", name)
