"""Options, each declared once: name, value, help text, type and default.

A field of a data class that is an ``option``, a ``choice`` or a ``flag`` becomes an option of the command, a
configuration key and a ``UQCLI_`` variable. The class of a command's own options is the request of its job:
fields that are ``filled`` have no option, and the command sets them. Such classes import nothing that
``--help`` need not load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Final, Self

from uqcli.base import defaults
from uqcli.base.choices import FileFormat
from uqcli.base.errors import UsageError, words
from uqcli.base.files import AT_ONCE, STDIO, AtOnce, is_stdout
from uqcli.base.records import dataclass
from uqcli.base.running.messages import caution

RUN: Final = "Reading and running"
PAPERS: Final = "From the papers"
"""Last panel of a help: options, and further values of options, that reproduce papers."""

MOST_COMMON: Final = 10
"""Most options of a command in its short help."""

REQUIRED: Any = MISSING
"""Default of an option that must be given."""


@dataclass(frozen=True, kw_only=False)
class Argument:
    """Declares a parameter of a command that has no name on the command line."""

    metavar: str
    help: str
    show_default: bool = True


def option(
    metavar: str | None,
    text: str | Mapping[str, str],
    default: Any = None,
    *,
    also: str = "",
    panel: str | None = None,
    papers: str = "",
    typed: Any = None,
    parse: Callable[[str, Any], Any] | None = None,
    stated: bool = False,
    guarded: bool = False,
    common: bool | tuple[str, ...] = False,
    min: int | None = None,  # noqa: A002 - as in ``typer.Option``
    max: int | None = None,  # noqa: A002
    **more: Any,
) -> Any:
    """Declare an option with a value.

    Parameters
    ----------
    metavar
        Placeholder of its value in the help; None to list the choices.
    text
        Help text, or texts by command.
    also
        Another name, such as ``-o``.
    panel
        Heading in the help, in place of the group's.
    papers
        Help text of its values under ``PAPERS``.
    typed
        Type on the command line, if it is not that of the field; a text if the option is parsed.
    parse
        Function from the option's name and its value on the command line to the value of the field.
    stated
        Whether the help text states the default.
    guarded
        Whether a configuration file that merely lies in a folder may not set it: it names a file or an
        address, or changes when a run fails or raises an alarm.
    common
        Whether the short help has it, or in which commands: at most ``MOST_COMMON`` of a command.
    min, max
        Range of a whole number, which Python keeps as well: no request can be made beyond it.
    **more
        Further arguments of ``typer.Option``.
    """
    kind = {"panel": panel, "papers": papers, "typed": typed, "parse": parse, "stated": stated}
    kind |= {"guarded": guarded, "common": common, "check": None}
    if min is not None:
        kind["check"] = partial(_check_range, least=min, most=max)
        more |= {"min": min, "max": max}
    return field(default=default, metadata={"metavar": metavar, "help": text, "also": also, **kind, **more})


def _check_range(name: str, value: Any, *, least: int, most: int | None) -> None:
    """Refuse what is no whole number of a range; None is no value."""
    if value is None:
        return
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        ends = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(words("{} {}", name, value), expected=f"a whole number {ends}")


def text(metavar: str, text: str, **more: Any) -> Any:
    """Declare an option that is empty if it is not given, as its help text states; see ``option``."""
    return option(metavar, text, "", typed=str | None, stated=True, **more)


def several(metavar: str, text: str | Mapping[str, str], **more: Any) -> Any:
    """Declare an option that can be repeated; ``more`` are arguments of ``option``."""
    return option(metavar, text, (), typed=list[str] | None, parse=files, **more)


def choice(text: str, default: Any = None, *, metavar: str | None = None, **more: Any) -> Any:
    """Declare an option whose value is a member of an enum; with a metavar, the texts must name them all.

    ``more`` are arguments of ``option``.
    """
    return option(metavar, text, default, **more)


def flag(text: str, *, also: str = "", guarded: bool = False, common: bool | tuple[str, ...] = False) -> Any:
    """Declare an option without a value."""
    return option(None, text, False, also=also, guarded=guarded, common=common)


def filled(default: Any = None) -> Any:
    """Declare a field of a request that the command sets, since it is no option."""
    return field(default=default)


def names(option: str, text: str) -> tuple[str, ...]:
    """Parse column names, none of which is repeated or empty."""
    columns = tuple(name.strip() for name in text.split(","))
    if not all(columns) or len(set(columns)) < len(columns):
        raise UsageError(words("{} '{}'", option, text), expected="different column names: A,B,...")
    return columns


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Parse numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(words("{} '{}'", option, text), expected="numbers separated by commas") from None


def files(_: str, several: list[str]) -> tuple[str, ...]:
    """Return the values of an option that is repeated."""
    return tuple(several)


def listed_names(_: str, text: str) -> tuple[str, ...]:
    """Return names separated by commas."""
    return tuple(name.strip() for name in text.split(","))


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Confidence of intervals, and the seed of their random draws."""

    panel: ClassVar = "Resampling"

    confidence: float = option("C", "Confidence of the intervals.", defaults.CONFIDENCE)
    seed: int = option("S", "Seed of the random draws.", defaults.SEED, min=0, max=defaults.MAX_SEED)


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions(Intervals):
    """Bootstrap intervals, off by default."""

    bootstrap: int = option(
        "B",
        "Bootstrap resamples for the intervals, and for p-values in tce.",
        0,
        min=0,
        max=defaults.MAX_REPLICATES,
    )


@dataclass(frozen=True, kw_only=True)
class OptionalResampling(Intervals):
    """Bootstrap intervals, on by default for a moderate number of rows."""

    bootstrap: int | None = option(
        "B",
        f"Bootstrap resamples; 0 for no intervals. (default: {defaults.BOOTSTRAP} up to "
        f"{defaults.BOOTSTRAP_ROWS:,} rows, else 0)",
        min=0,
        max=defaults.MAX_REPLICATES,
    )


@dataclass(frozen=True, kw_only=True)
class ClusterColumn:
    """Column of rows that depend on each other."""

    panel: ClassVar = "Columns"

    cluster: str | None = option("COL", "Column of dependent rows, e.g. customer_id.")


@dataclass(frozen=True, kw_only=True)
class SamplingWeights:
    """Column of sampling weights."""

    panel: ClassVar = "Columns"

    sampling_weight: str | None = option("COL", "Column of 1 / the probability that a row is in the file.")


@dataclass(frozen=True, kw_only=True)
class DependenceColumns(ClusterColumn):
    """Column of rows that depend on each other, or of the days within which they do."""

    day: str | None = option("COL", "Dates or times, if rows of a day are dependent.", common=("evaluate",))

    @classmethod
    def alternatives(cls) -> tuple[tuple[str, ...], ...]:
        """Return the options that exclude each other: a typed one wins over a configured one."""
        return ("cluster",), ("day",)

    @property
    def chosen(self) -> tuple[str | None, bool]:
        """The column, and whether it is one of days."""
        if self.cluster is not None and self.day is not None:
            raise UsageError(words("--cluster and --day cannot be combined"), remedy="leave one of them out")
        return self.cluster or self.day, self.day is not None


@dataclass(frozen=True, kw_only=True)
class GroupColumn:
    """Column of groups that are measured one by one."""

    panel: ClassVar = "Output"

    by: str | None = option("COL", "Also measure each group of this column.", common=True)

    @property
    def has_groups(self) -> bool:
        """Whether a column names them."""
        return self.by is not None


@dataclass(frozen=True, kw_only=True)
class FirstRowsOptions:
    """The first rows in the order of a rule, of all rows or of each group, whatever its thresholds."""

    panel: ClassVar = "Output"

    top: int | None = option(
        "N",
        {
            "apply": "Flag the N highest-ranked rows instead of using thresholds.",
            "evaluate": "Measure the N highest-ranked rows instead of those that thresholds flag, as apply "
            "--top does.",
            "boundary": "Flag the N highest-ranked rows of each group.",
        },
        min=1,
        max=defaults.MAX_ROWS,
        common=("apply",),
    )
    per: str | None = option(
        "COL",
        {
            "apply": "With --top: flag N rows of each value of this column, or of each date of times.",
            "evaluate": "With --top: the N rows of each value of this column, or of each date of times.",
            "boundary": "With --top: column of groups, such as days.",
        },
        common=("apply",),
    )

    @property
    def are_asked(self) -> bool:
        """Whether they count in place of the rows that thresholds flag."""
        return self.top is not None

    def of_rule(self, own: Self) -> Self:
        """Return them as asked for, or else as a rule flags them; refuse a column without a number."""
        asked = replace(own, **{name: value for name, value in vars(self).items() if value})
        if asked.per and not asked.are_asked:
            raise UsageError(words("--per is given without --top"), remedy=words("add --top"))
        return asked


def normalize_stdout(output: str | None) -> str | None:
    """Replace any name of standard output by ``-`` (a callback of ``--output``)."""
    return STDIO if output is not None and is_stdout(output) else output


@dataclass(frozen=True, kw_only=True)
class RowOutput:
    """File of the rows, and its columns.

    A regular file waits in the queue for ``commit``; without a queue it is renamed into place at once.
    """

    panel: ClassVar = "Output"

    output: str | None = option(
        "FILE",
        "Write the rows here; the file ending sets the format. (default: CSV to standard output)",
        also="-o",
        callback=normalize_stdout,
        guarded=True,
        common=True,
    )
    output_format: FileFormat | None = choice(
        "Format of the rows: csv, parquet, arrow or jsonl, whatever the file ending.", metavar="FORMAT"
    )
    prefix: str = option("P", "Prefix for the names of added columns.", "")
    overwrite: bool = flag("Replace columns that have these names.")
    union: bool = flag("Accept inputs with different columns; fill missing ones with null.")
    queue: AtOnce = AT_ONCE

    @property
    def target(self) -> str:
        """Path, or ``-`` for standard output."""
        return self.output or STDIO


def check_bootstrap(replicates: int | None) -> None:
    """Refuse a number of resamples that gives no interval: 1, or a negative one."""
    if replicates is not None and (replicates < 0 or replicates == 1):
        raise UsageError(f"{replicates} bootstrap replicates", expected="2 or more, or 0 for none")


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level that is not strictly between 0 and 1."""
    if not 0 < confidence < 1:
        meant = f"did you mean {confidence / 100:g}?" if 2 <= confidence < 100 else ""
        raise UsageError(f"confidence {confidence:g}", expected="a number between 0 and 1", remedy=meant)


def caution_confidence(option: str, risk: float) -> None:
    """Caution that a typed risk of more than one half may have been meant as a confidence."""
    if risk > 0.5:
        caution(
            "risk-as-confidence",
            f"{option} {risk:g} is the probability of an error, not a confidence: "
            f"for a confidence of {risk:g}, give {option} {1 - risk:.4g}.",
        )
