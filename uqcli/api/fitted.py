"""Base class of fitted rules, saved and loaded as rule files of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np
import polars as pl

from uqcli.api.arguments import (
    CLUSTER,
    DAY,
    WEIGHT,
    Classes,
    add_columns,
    choice,
    class_rows,
    in_order,
    present,
    unused,
)
from uqcli.api.reported import OfRun, Reported
from uqcli.audit.report import Segment
from uqcli.base.choices import ArtifactKind, ExportTarget, SqlDialect
from uqcli.base.defaults import LABEL
from uqcli.base.errors import DataError, UsageError
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.running.messages import repeat_doubts
from uqcli.engines.open import open_engine
from uqcli.engines.request import PROBA, DataRequest
from uqcli.evaluate.groups import EvaluatedGroup
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import ReportByGroup
from uqcli.evaluate.run import run
from uqcli.export.options import ExportRequest
from uqcli.export.run import run as export
from uqcli.jobs.tables import Column, Decimal, by_name, decimal_text, is_frame, table_of
from uqcli.reports.document import Metrics, Report
from uqcli.reports.figures import save_figure
from uqcli.reports.formats.markdown import to_markdown
from uqcli.rules.codec import encode, load_kind, load_unedited
from uqcli.rules.columns import ColumnOverrides, NewColumns
from uqcli.rules.saved import Saved
from uqcli.show.run import ShowReport
from uqcli.stores.output import write_bytes
from uqcli.stores.state import updated
from uqcli.watch.options import WatchRequest
from uqcli.watch.report import WatchReport
from uqcli.watch.run import run as watch
from uqcli.watch.unlabelled import UnlabelledReport

ModelT = TypeVar("ModelT", bound=Saved)


def used(fitted: Fitted[ModelT]) -> ModelT:
    """Return the content of a rule for a run, which repeats the doubts about it."""
    repeat_doubts(str(fitted.artifact.kind), fitted.doubts)
    return fitted.artifact


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Fitted(OfRun, Generic[ModelT]):
    """A fitted rule; see ``OfRun``.

    Attributes
    ----------
    artifact
        Content of the rule file that ``save`` writes and every command reads.
    notes
        Notes on the fit.
    report
        Report of the command that fits such rules; None if the rule was loaded, or fitted without a report.
    """

    artifact: ModelT
    notes: tuple[str, ...] = ()
    report: Report | None = field(default=None, compare=False)

    _saved_as: ClassVar[type[Any]] = Saved

    def __repr__(self) -> str:
        doubtful = "; made with a doubt, see doubts" if self.doubts else ""
        return f"<{self.artifact.document().title}{doubtful}>"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Doubts about how the rule was made, which whatever uses the rule repeats."""
        return tuple(self.artifact.known_doubts)

    def payload(self) -> dict[str, Any]:
        """Return the JSON that the command prints with ``--json``; there is none for a loaded rule."""
        if self.report is None:
            raise UsageError("payload() of a rule that was loaded, or fitted without a report")
        return self._json(self.report)

    def save(self, path: str) -> None:
        """Write the rule file (JSON); an old file stays until the new one is complete."""
        write_bytes(str(path), encode(self.artifact))

    @classmethod
    def load(cls, path: str) -> Self:
        """Read a rule file written by ``save`` or a command."""
        return cls(artifact=load_kind(str(path), cls._saved_as))

    def export(self, to: str, *, dialect: str = "duckdb", table: str | None = None) -> str | bytes:
        """Write the rule as SQL or Python text, or as an ONNX model, as ``uqcli export``."""
        target = choice("to", ExportTarget, to)
        request = ExportRequest(
            artifact=str(self.artifact.kind),
            to=target,
            dialect=choice("dialect", SqlDialect, dialect),
            table=table,
            rule=self.artifact,
        )
        program = export(request).program
        return program if target is ExportTarget.ONNX else program.decode()

    def plot(self, path: str) -> None:
        """Write the figure of the fit, as ``--plot``."""
        save_figure(self.report, path)

    def describe(self) -> str:
        """Describe the rule in words and tables, as ``uqcli show``; Markdown."""
        document = ShowReport(rule=self.artifact).document()
        doubts = [Notice("doubt", f"The rule was made with a doubt: {sentence}") for sentence in self.doubts]
        return to_markdown(replace(document, cautions=[*document.cautions, *doubts]))

    def _input_columns(
        self, score: Column, uncertainty: Column | Mapping[str, Column] | None
    ) -> dict[str, Column | None]:
        """Return the score and uncertainty by the names that the rule file uses."""
        columns, uncertainty = self.artifact.source.columns, self._own_uncertainty(uncertainty)
        column_by_name: dict[str, Column | None] = {columns["score"]: score}
        own = self.artifact.source.uncertainty or ""
        if self.artifact.needs_uncertainty and own != columns["score"]:
            column_by_name[own] = uncertainty
        elif self.artifact.needs_uncertainty and uncertainty is not None and uncertainty is not score:
            raise DataError("two columns for one", expected="the score alone, which is also the uncertainty")
        return column_by_name

    def _own_uncertainty(self, uncertainty: Column | Mapping[str, Column] | None) -> Column | None:
        """Return the uncertainty that the rule uses, from several by name."""
        if not is_frame(uncertainty):
            return uncertainty
        return by_name(uncertainty).get(self.artifact.source.uncertainty or "")

    def _class_columns(self, probability: Classes) -> dict[str, Column | None]:
        """Return the class probabilities by the names that the rule file uses."""
        columns, classes = self.artifact.source.columns, self.artifact.class_names
        names = [columns[f"{PROBA}{name}"] for name in classes]
        frame = class_rows(in_order(probability, names, classes), classes=classes).frame
        assert frame is not None  # built from columns
        return dict(zip(names, frame.iter_columns(), strict=True))

    def _added(self, columns: Mapping[str, Column | None], **form: Any) -> dict[str, np.ndarray]:
        """Compute the columns that the rule adds, from columns by the names that the rule file uses."""
        roles = self.artifact.reads(ColumnOverrides())
        column_names = roles.columns()
        missing = [name for name in column_names if columns.get(name) is None]
        if missing:
            raise DataError(f"no {missing[0]} given", expected=f"all of {', '.join(column_names)}")
        data = DataRequest(
            inputs=(), frame=table_of({name: columns[name] for name in column_names}), roles=roles
        )
        added = self.artifact.adds(roles, NewColumns(**form))
        parts = [added.compute(rows) for rows in open_engine(data.engine).batches(data)]
        return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in added.types}

    def _measured(
        self,
        inputs: Mapping[str, Column | None],
        label: Column,
        weight: Column | None,
        by: Column | None,
        audit: Mapping[str, Column] | None,
        *,
        cluster: Column | None,
        day: Column | None = None,
        **options: Any,
    ) -> Evaluation:
        """Evaluate the rule on labelled rows.

        ``inputs`` are as in ``_added``, ``options`` attributes of ``EvaluateRequest``.
        """
        if cluster is not None and day is not None:
            raise UsageError("cluster and day cannot be combined", remedy="leave one of them out")
        segments = by_name(audit)
        dependent = (CLUSTER, cluster) if day is None else (DAY, day)
        more = [*segments.items(), ("by", by), dependent]
        frame, overrides, names = self._labelled(inputs, label, weight, more)
        request = EvaluateRequest(
            data=DataRequest(inputs=(), frame=frame),
            artifacts=(str(self.artifact.kind),),
            rules=(used(self),),
            columns=overrides,
            by=names[-2],
            cluster=names[-1],
            days=day is not None,
            audit=tuple(name for name in names[:-2] if name is not None),
            **options,
        )
        return Evaluation(report=run(request).report)

    def _labelled(
        self,
        inputs: Mapping[str, Column | None],
        label: Column,
        weight: Column | None,
        more: Sequence[tuple[str, Column | None]],
    ) -> tuple[pl.DataFrame, ColumnOverrides, list[str | None]]:
        """Build a table of labelled rows; also return the columns to read, and the names of further ones.

        A further column has no name if it is not given, and a changed one if the rule has such a column.
        """
        columns = self.artifact.source.columns
        labelled = {**inputs, columns.get("label", LABEL): label}
        free = unused(WEIGHT, labelled)
        all_columns = {**labelled, columns.get("weight", free): weight}
        names = add_columns(all_columns, more)
        weighted = weight is not None
        overrides = ColumnOverrides(
            weight=free if weighted and "weight" not in columns else None, weighted=weighted
        )
        return table_of(present(**all_columns)), overrides, names

    def _watched(
        self,
        inputs: Mapping[str, Column | None],
        label: Column,
        weight: Column | None,
        day: Column | None,
        state: str | None,
        *,
        bound: Decimal | None,
        delta: Decimal | None,
        cluster: Column | None,
        **options: Any,
    ) -> Watched:
        """Watch the rule on new labelled rows.

        ``inputs`` are as in ``_added``, ``options`` attributes of ``WatchRequest``. The state file is locked,
        read and replaced; without one nothing is remembered.
        """
        frame, overrides, names = self._labelled(inputs, label, weight, [("day", day), (CLUSTER, cluster)])
        request = WatchRequest(
            data=DataRequest(inputs=(), frame=frame),
            rule=used(self),
            columns=overrides,
            day=names[0],
            cluster=names[1],
            bound=None if bound is None else decimal_text("bound", bound),
            delta=None if delta is None else decimal_text("delta", delta),
            **options,
        )

        def watched(content: bytes) -> Watched:
            result = watch(replace(request, state=state, content=content))
            if state is not None and result.artifact is not None:
                write_bytes(state, encode(result.artifact))
            return Watched(report=result.report)

        return Watched(report=watch(request).report) if state is None else updated(state, watched)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Watched(Reported):
    """Watch of a rule after new rows; see ``Reported``."""

    report: WatchReport | UnlabelledReport

    @property
    def metrics(self) -> Metrics:
        """Metrics by the keys of ``uqcli watch --json``."""
        return self.report.metrics

    @property
    def alarms(self) -> tuple[str, ...]:
        """Alarms, in words; empty if there is none."""
        return tuple(self.report.alarms()) if isinstance(self.report, WatchReport) else ()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Evaluation(Reported):
    """Evaluation of a rule on a test set; see ``Reported``."""

    report: ReportByGroup

    @property
    def metrics(self) -> Metrics:
        """Metrics by the keys of ``uqcli evaluate --json``."""
        (metrics,) = self.report.checked_metrics.values()
        return metrics

    @property
    def groups(self) -> tuple[EvaluatedGroup, ...]:
        """Results of each group, in the order of the names; empty without ``by``."""
        return tuple(self.report.groups)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Tests of all segments, the most significant first; empty without ``audit``."""
        return tuple(self.report.segments)


_CLASSES: Final = {
    ArtifactKind.GRID: ("bin", "Grid"),
    ArtifactKind.BOUNDARY: ("boundary", "Boundary"),
    ArtifactKind.CALIBRATOR: ("calibrate", "Calibrator"),
    ArtifactKind.CONFORMAL: ("conformal", "ConformalSets"),
    ArtifactKind.SHIFT: ("shift", "ShiftWeights"),
}
"""Module and class by kind of rule file."""


def load(path: str) -> Fitted[Any]:
    """Load a rule file written by ``save`` or a command, as an object of its kind."""
    artifact = load_unedited(str(path))
    module, name = _CLASSES.get(artifact.kind, ("fitted", "Fitted"))
    fitted: Fitted[Any] = getattr(import_module(f"uqcli.api.{module}"), name)(artifact=artifact)
    return fitted
