"""Calls of commands from Python: what is given to them, and what they return.

A function is made from the declarations of which the command line is made, and runs the same job.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import Context, copy_context
from functools import cached_property, partial
from io import BytesIO, StringIO
from itertools import chain, repeat
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from uqcli.base.errors import GateError, UqcliError, UsageError, keywords, words
from uqcli.base.files import InMemory
from uqcli.base.records import dataclass
from uqcli.base.running import messages
from uqcli.base.running.rounding import caution_rounding
from uqcli.base.wording import similar_names
from uqcli.jobs.declared import REQUIRED, Declaration, Option, Parameter, declaration_of
from uqcli.jobs.deliver import write_plot, write_report
from uqcli.jobs.delivery import Delivery
from uqcli.jobs.options import RuleOutput
from uqcli.jobs.shell import Shell, enter, flag_of, line_of
from uqcli.jobs.tables import by_name, decimal_text, is_frame, python_number, table_of
from uqcli.jobs.values import UnusableValueError, choices_of, value_of
from uqcli.stores.output import read_bytes, write_bytes
from uqcli.stores.view import one_view

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

T = TypeVar("T")

Rows: TypeAlias = Any
"""A data frame of any library, a mapping of arrays, a path, or several of these."""

OF_COMMAND_LINE: Final = {
    "json": "result.json()",
    "quiet": "",
    "debug": "",
    "show_settings": "",
    "config": "",
    "no_config": "",
    "schema": "uqcli.schema_text(kind)",
    "threads": "POLARS_MAX_THREADS and NUMBA_NUM_THREADS before the import",
    "memory": "a limit of the process",
}
"""Options about the process or its terminal, and what Python has in their place."""

_PARAMETERS: Final = {"inputs": ("rows",), "artifact": ("rule",), "arguments": ("rule", "rows")}
"""Parameters of Python by the argument of the command that takes them, if they have other names."""

_ADDED: Final = "uqcli "
"""Beginning of the names of columns that are computed to be returned alone."""


class Rule:
    """A saved rule in memory: the content of the file that ``save`` writes, and that every command reads."""

    def __init__(self, content: bytes, name: str = "") -> None:
        self.content = content
        self.name = name or f"{self.kind}.json"

    def json(self) -> dict[str, Any]:
        """Return the content of the rule file."""
        content: dict[str, Any] = json.loads(self.content)
        return content

    @property
    def kind(self) -> str:
        """Kind of the rule: grid, boundary, calibrator, conformal, shift or watch."""
        return str(self.json()["kind"])

    def __repr__(self) -> str:
        """Return the first sentence that ``show`` says of the rule."""
        return f"<{str(call('show', (self,), {})).splitlines()[0]}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule file; an old one stays until the new one is complete."""
        write_bytes(os.fspath(path), self.content)

    def apply(self, rows: Rows, **options: Any) -> Any:
        """Return the rows with the rule's columns, as ``uqcli apply``; a frame of the caller's kind."""
        return call("apply", (self, rows), options).rows

    def decide(self, rows: Rows, **options: Any) -> NDArray[np.bool_]:
        """Return whether a boundary flags each row; bool, shape (n,)."""
        return self._added(rows, options, lambda name: name == "decision").to_numpy()[:, 0]

    def predict(self, rows: Rows, **options: Any) -> NDArray[Any]:
        """Return what the rule gives each row.

        Calibrated probabilities, float64 of shape (n,), or (n, C) with class probabilities; for prediction
        sets whether each class is in them, bool of shape (n, C).
        """
        classes: list[str] = self.json().get("classes") or []
        of_classes = [f"calibrated_{name}" for name in classes]
        names = {"calibrated", "set", *of_classes}
        added = self._added(rows, options, lambda name: name in names)
        if "set" in added.columns:
            sets = added["set"]
            return added.select(sets.list.contains(name).alias(name) for name in classes).to_numpy()
        array: NDArray[Any] = added.to_numpy()
        return array if of_classes else array[:, 0]

    def evaluate(self, rows: Rows, **options: Any) -> Result:
        """Measure the rule on labelled rows, as ``uqcli evaluate``."""
        return call("evaluate", (self, rows), options)

    def watch(self, rows: Rows = None, **options: Any) -> Result:
        """Test what the rule promises as labels arrive, as ``uqcli watch``."""
        return call("watch", (self, rows), options)

    def sample(self, rows: Rows, **options: Any) -> Result:
        """Draw the rows to label, as ``uqcli sample``."""
        return call("sample", (self, rows), options)

    def export(self, to: str, **options: Any) -> str | bytes:
        """Return the rule as SQL or Python text, or as the bytes of an ONNX model, as ``uqcli export``."""
        return call("export", (self,), {"to": to, **options}).program

    def _added(self, rows: Rows, options: dict[str, Any], wanted: Callable[[str], bool]) -> pl.DataFrame:
        """Return some of the columns that the rule adds, without those of the rows."""
        made = call("apply", (self, rows), {**options, "prefix": _ADDED}).table
        names = [name.removeprefix(_ADDED) for name in made.columns if name.startswith(_ADDED)]
        chosen = [name for name in names if wanted(name)]
        if not chosen:
            raise UsageError(f"a rule of kind {self.kind} adds {', '.join(names)}", expected="another kind")
        return made.select(f"{_ADDED}{name}" for name in chosen).rename(
            lambda name: name.removeprefix(_ADDED)
        )


def load(path: str | os.PathLike[str]) -> Rule:
    """Read a rule file.

    Raises
    ------
    DataError, ArtifactError
        The file is missing or is not a rule file.
    """
    from uqcli.rules.codec import load_unedited

    load_unedited(os.fspath(path))
    return Rule(read_bytes(os.fspath(path)), os.fspath(path))


class Result:
    """What a run has found; as a text its report."""

    def __init__(self, delivery: Delivery, run: Context, native: Any, written: BytesIO | None) -> None:
        self._delivery, self._run, self._native, self._written = delivery, run, native, written

    @property
    def run_report(self) -> Any:
        """The report as an object."""
        return self._delivery.result.report

    @property
    def artifact(self) -> Any:
        """The rule as an object; None if there is none."""
        return self._delivery.result.artifact

    def made(self, make: Callable[[], T]) -> T:
        """Make something that keeps what the run has said."""
        return self._run.copy().run(make)

    @cached_property
    def rule(self) -> Rule:
        """The rule; UsageError if the run makes none."""
        from uqcli.rules.codec import encode

        artifact = self._delivery.result.artifact
        if artifact is None:
            raise UsageError(f"{self._delivery.context.command} gave no rule")
        return Rule(encode(artifact))

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """Rules by the text of their bound, if several were asked for."""
        from uqcli.rules.codec import encode

        return {text: Rule(encode(model)) for text, model in self._delivery.result.several.items()}

    @property
    def failed(self) -> bool:
        """Whether a check of ``fail_if`` failed, or an alarm was raised."""
        return self._delivery.ending.failed != [] or self._delivery.result.failure is not None

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.json())
        return content

    @property
    def metrics(self) -> dict[str, Any]:
        """Metrics by name, as the command's ``--json`` has them."""
        metrics: dict[str, Any] = self._content.get("metrics", {})
        return metrics

    @property
    def cautions(self) -> list[str]:
        """Cautions in words, the weightiest first."""
        cautions: list[str] = self._content["cautions"]
        return cautions

    def json(self) -> str:
        """Return what the command prints with ``--json``."""
        return self._run.copy().run(self._delivery.ending.as_json)

    def __str__(self) -> str:
        """Return what the command prints."""
        printed = StringIO()
        self._run.copy().run(self._delivery.write, printed)
        return printed.getvalue()

    def __repr__(self) -> str:
        """Return the first sentence of the report."""
        return f"<{str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        """Return the head of the page with its figure, as a notebook shows it."""
        from uqcli.reports.notebook import head_of

        return self._run.copy().run(head_of, self._delivery.ending.report.document())

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report, as ``--report``; the ending of the name sets the format."""
        self._run.copy().run(write_report, self._delivery, os.fspath(path))

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Write the figure, as ``--plot``: .png, .svg or .pdf."""
        self._run.copy().run(write_plot, self._delivery, os.fspath(path))

    @property
    def table(self) -> pl.DataFrame:
        """The rows that the command writes, as a frame of polars."""
        return _table(self._content_of("rows", is_program=False))

    @property
    def rows(self) -> Any:
        """The rows that the command writes, as a frame of the caller's kind."""
        from uqcli.jobs.tables import as_given

        return as_given(self.table, self._native)

    @property
    def program(self) -> str | bytes:
        """The program that ``export`` writes: text, or the bytes of an ONNX model."""
        content = self._content_of("program", is_program=True).getvalue()
        return content if content[:1] < b" " else content.decode()  # no text begins so, every model does

    def _content_of(self, kind: str, *, is_program: bool) -> BytesIO:
        """Return what was written in place of a file; UsageError if nothing of this kind was."""
        command, written = self._delivery.context.command, self._written
        if written is None or is_program != (command == "export") or self._delivery.ending.is_stopped:
            reason = "a check failed" if self._delivery.ending.is_stopped else "it has none, or wrote a file"
            raise UsageError(f"{command} gave no {kind}: {reason}")
        return written


def call(command: str, given: Sequence[Any], options: Mapping[str, Any]) -> Result:
    """Run a command; ``given`` are its arguments in order."""
    return in_one_run(partial(_run, declaration_of(command), given, options))


def in_one_run(function: Callable[[], T]) -> T:
    """Call a function in a context of its own, so that what it says, such as cautions, is its own."""

    def run() -> T:
        messages.clear()
        caution_rounding()
        return function()

    return copy_context().run(run)


@dataclass(frozen=True, kw_only=True)
class _Program(Shell):
    """A program, which keeps what a run delivers."""

    delivered: list[Delivery]

    def deliver(self, delivery: Delivery) -> None:
        """Keep it."""
        self.delivered.append(delivery)


def _run(declaration: Declaration, given: Sequence[Any], options: Mapping[str, Any]) -> Result:
    names = _Names()
    arguments = _arguments(declaration, given, names)
    typed = {
        name: _typed(declaration, name, value, names)
        for name, value in options.items()
        if value is not None and value is not False
    }
    values = {**_defaults(declaration, {*arguments, *typed}), **typed, **arguments}
    shown = [each if isinstance(each, list) else [each] for each in arguments.values()]
    line = {name: (flag_of(name), value) for name, value in typed.items()}
    native = next((each for each in reversed(given) if is_frame(each)), None)
    delivered: list[Delivery] = []
    receiver = _receiver(declaration, typed)
    if receiver is not None:
        values["output"] = InMemory("rows.arrow" if declaration.name != "export" else "program", receiver)
    with one_view():
        enter(
            _Program(
                typed=frozenset({*typed, *(name for name, value in arguments.items() if value)}),
                options=frozenset(declaration.options),
                line=line_of(declaration.name, shown, line, {}),
                delivered=delivered,
            )
        )
        try:
            declaration.run(values)
        except UqcliError as error:
            if not delivered:
                raise
            result = Result(delivered[-1], copy_context(), native, receiver)
            if not (isinstance(error, GateError) or delivered[-1].result.saved_though_failed):
                error.report = result
                raise
            return result
        return Result(delivered[-1], copy_context(), native, receiver)


class _Names:
    """Names of what a program gives to a run: of files, or of rows and rules in memory."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._tables: dict[int, pl.DataFrame] = {}

    def of(self, wanted: str, value: Any) -> list[str]:
        """Return the names of a path, rows or a rule, or of several; none for None."""
        if value is None:
            return []
        if isinstance(value, InMemory):
            return [value]
        if isinstance(value, str | os.PathLike):
            return [os.fspath(value)]
        if isinstance(value, Rule | Result):
            rule = value if isinstance(value, Rule) else value.rule
            return [self._new(rule.name, rule.content)]
        if is_frame(value):
            if id(value) not in self._tables:  # the same rows are known as such, where others are needed
                self._tables[id(value)] = table_of(by_name(value))
            return [self._new(wanted, self._tables[id(value)])]
        if isinstance(value, list | tuple):
            return [name for each in value for name in self.of(wanted, each)]
        raise UsageError(
            f"{wanted} is of type {type(value).__name__}",
            expected="a data frame, a mapping of arrays, a path, a rule, or a list of these",
        )

    def _new(self, wanted: str, content: Any) -> str:
        stem, ending = os.path.splitext(wanted)  # noqa: PTH122 - a name of any text
        numbered = (f"{stem} {number}{ending}" for number in range(2, len(self._used) + 3))
        name = next(name for name in (wanted, *numbered) if name not in self._used)
        self._used.add(name)
        return InMemory(name, content)


def _arguments(declaration: Declaration, given: Sequence[Any], names: _Names) -> dict[str, Any]:
    """Return the arguments of a command: names of rules and of inputs."""
    arguments, values = dict[str, Any](), chain(given, repeat(None))
    for declared_as in declaration.arguments:
        wanted = _PARAMETERS.get(declared_as.name, (declared_as.name,))
        found = [name for each in wanted for name in names.of(each, next(values))]
        if declared_as.takes_several:
            arguments[declared_as.name] = found
        elif found:
            (arguments[declared_as.name],) = found
    return arguments


def _typed(declaration: Declaration, name: str, value: Any, names: _Names) -> Any:
    """Return the value of an option as the command line has it."""
    if name in OF_COMMAND_LINE:
        raise UsageError(f"{name} is an option of the command line", remedy=OF_COMMAND_LINE[name])
    if name not in declaration.options:
        raise wrong_option(name, [each for each in declaration.options if each not in OF_COMMAND_LINE])
    option = declaration.options[name]
    if option.takes_several:
        several = value if isinstance(value, list | tuple) else [value]
        return [_text(option, each, names) for each in several]
    text = _text(option, value, names)
    try:
        return option.field.metadata.get("callback", _same)(value_of(option, text))
    except UnusableValueError as error:
        expected = error.expected or f"one of {', '.join(choices_of(option))}"
        raise UsageError(f"{name} is '{error.text}'", expected=expected) from None


def wrong_option(name: str, known: Collection[str]) -> UsageError:
    """Return the error of an option that there is not."""
    meant = similar_names(name, known, cutoff=0.6) or list(known)
    return UsageError(f"unknown option '{name}'", expected=f"one of {', '.join(meant)}")


def _same(value: Any) -> Any:
    return value


def _text(option: Option, value: Any, names: _Names) -> str:
    """Return one value of an option as it would be typed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Real):
        return decimal_text(option.name, python_number(value))
    if isinstance(value, Mapping) and all(isinstance(each, str | Real) for each in value.values()):
        return ",".join(f"{key}={_text(option, each, names)}" for key, each in value.items())
    if isinstance(value, list | tuple) and not option.takes_several:
        parts = [_text(option, each, names) for each in value]
        if any("," in part for part in parts):
            raise UsageError(f"{option.name} has a comma in '{','.join(parts)}'", remedy="rename the column")
        return ",".join(parts)
    if not isinstance(value, str | os.PathLike) and not _reads(option):
        is_path = option.field.metadata["metavar"] == "FILE"
        raise UsageError(
            f"{option.name} is of type {type(value).__name__}",
            expected="a path" if is_path else "a text or a number",
        )
    (name,) = names.of(option.name, value)
    return name


def _reads(option: Option) -> bool:
    """Whether an option names rows or a rule, which may be in memory."""
    is_file = option.field.metadata["metavar"] in ("FILE", "INPUT", "GRID.json", "SHIFT.json")
    return is_file and option.name not in ("output", "state", "frontier", "plot", "report")


def _defaults(declaration: Declaration, given: set[str]) -> dict[str, Any]:
    """Return the values of what was not given."""
    values: dict[str, Any] = {}
    for each in declaration.parameters:
        if each.default is REQUIRED and each.name not in given:
            needed = " and ".join(_PARAMETERS.get(each.name, (each.name,)))
            raise UsageError(f"{declaration.name} needs {needed}", expected=_choices(each))
        values[each.name] = each.default
    return values


def _choices(parameter: Parameter) -> str:
    choices = choices_of(parameter)
    return f"one of {', '.join(choices)}" if choices else ""


def _receiver(declaration: Declaration, typed: Mapping[str, Any]) -> BytesIO | None:
    """Return what takes the rows or the program that would go to standard output; None if there are none."""
    kinds = [
        declaration.groups[option.group] for option in declaration.options.values() if option.name == "output"
    ]
    if "output" in typed or not kinds or kinds == [RuleOutput]:
        return None
    if "output_format" in typed:
        raise UsageError("output_format without output", expected="a file whose format it is")
    return BytesIO()


def _table(content: BytesIO) -> pl.DataFrame:
    """Return rows that were written as Arrow, without copying them."""
    import polars as pl
    import pyarrow as pa

    frame = pl.from_arrow(pa.ipc.open_file(pa.BufferReader(pa.py_buffer(content.getbuffer()))).read_all())
    assert isinstance(frame, pl.DataFrame)
    return frame


def function(command: str) -> Callable[..., Result]:
    """Make the function of a command from its declaration."""
    declaration = declaration_of(command)
    without_names = positional(declaration)
    signature = inspect.Signature([*without_names, *_keywords(declaration)])

    def run(*given: Any, **options: Any) -> Result:
        bound = signature.bind_partial(
            *given, **{name: options.pop(name) for name in [*options] if name in names}
        )
        return call(command, [bound.arguments.get(name) for name in names], options)

    names = [parameter.name for parameter in without_names]
    run.__name__ = run.__qualname__ = command
    run.__module__ = "uqcli.commands"
    run.__doc__ = _documentation(declaration)
    run.__signature__ = signature  # type: ignore[attr-defined]  # as help and editors read it
    return run


def positional(declaration: Declaration) -> list[inspect.Parameter]:
    """Return the parameters for what the command takes without a name."""
    names = [name for each in declaration.arguments for name in _PARAMETERS.get(each.name, (each.name,))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [inspect.Parameter(name, kind, default=None) for name in names]


def _keywords(declaration: Declaration) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(each.name, kind, default=None if each.default is REQUIRED else each.default)
        for each in declaration.options.values()
        if each.name not in OF_COMMAND_LINE
    ]


def _documentation(declaration: Declaration) -> str:
    """Return the help of a command as a docstring."""
    lines = [str(declaration.function.__doc__), "", "Parameters", "----------"]
    lines += [f"{each.name}\n    {_PARAMETER_HELP[each.name]}" for each in positional(declaration)]
    lines += [
        f"{name}\n    {_in_python(option.help)}"
        for name, option in declaration.options.items()
        if name not in OF_COMMAND_LINE
    ]
    lines += ["", "Returns", "-------", "Result", "", "Raises", "------", "UqcliError"]
    lines += ["    What the command would end with; after a failed search its ``report`` has the report."]
    return "\n".join(lines).replace(" (repeatable)", " (or a list)")


def _in_python(text: str) -> str:
    """Word a text of a declaration for Python."""
    return keywords(words(text.replace("{", "{{").replace("}", "}}")))


_PARAMETER_HELP: Final = {
    "rows": "A data frame of any library, a mapping of arrays, a path, or several of these.",
    "rule": "A saved rule: a path, or the rule of a result.",
    "other": "A second rule: show what differs.",
}
