"""``uqcli show``: describe a rule, or the differences between two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from uqcli.base.errors import UsageError
from uqcli.base.records import dataclass
from uqcli.base.wording import rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult
from uqcli.rules.codec import content_of, load
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.labelled import refuse_keep
from uqcli.rules.result import Result
from uqcli.rules.saved import Saved, roles_of
from uqcli.show.two_rules import ChangedRows, ShowTwoReport


@dataclass(frozen=True, kw_only=True)
class ShowReport(OneResult):
    """A saved rule of any kind."""

    rule: Saved

    @property
    def metrics(self) -> Metrics:
        """Numbers of the rule."""
        return self.rule.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: the rule as saved. A digest that does not match is null, with the reason."""
        content = content_of(self.rule)
        if not self.rule.unsealed:
            return content
        return {**content, "digest": None, "seal": str(self.rule.seal)}

    def document(self) -> Document:
        """Return the readable form."""
        document = self.rule.document()
        card = document.card or HeadCard(title=document.title)
        return replace(
            document,
            cautions=[f"{self.rule.unsealed}."] if self.rule.unsealed else [],
            card=replace(
                card,
                title=f"Saved rule: {card.title[:1].lower()}{card.title[1:]}",
                subject=f"What {{rules}} does; it was fitted on {rows_of(self.rule.source.rows)}.",
                action="Test it with uqcli evaluate, or apply it to new rows with uqcli apply.",
            ),
        )


def show_one(artifact: str) -> Result[ShowReport, None]:
    """Load a rule file."""
    return Result(report=ShowReport(rule=load(artifact)), artifact=None)


def show_two(
    artifact: str, second_artifact: str | None, data: DataRequest | None
) -> Result[ShowTwoReport, None]:
    """Load two rule files, and count the rows on which they decide differently.

    Parameters
    ----------
    data
        Rows to decide; None to compare only the rules.

    Raises
    ------
    UsageError
        There is one rule file only, or the kinds differ, or ``data`` is given for rules that flag no rows.
    DataError, ArtifactError
        Files cannot be read.
    """
    if second_artifact is None:
        raise UsageError("--on with one rule file", expected="two rule files, or apply for one")
    rules = load(artifact), load(second_artifact)
    first, second = rules
    if first.kind != second.kind:
        raise UsageError(
            f"'{artifact}' is of kind {first.kind}, '{second_artifact}' of kind {second.kind}",
            expected="two rule files of one kind",
        )
    changed = None if data is None else _count(rules, data)
    return Result(
        report=ShowTwoReport(names=(artifact, second_artifact), rules=rules, changed=changed), artifact=None
    )


def _count(rules: tuple[Saved, Saved], data: DataRequest) -> ChangedRows:
    """Count the rows that both, one or none of two boundaries flag."""
    first, second = rules
    if not isinstance(first, BoundaryArtifact) or not isinstance(second, BoundaryArtifact):
        raise UsageError(f"--on with rule files of kind {first.kind}", expected="two boundaries")
    refuse_keep(data.on_invalid)
    roles = roles_of(rules, ColumnOverrides(), labelled=False)
    counts = np.zeros(4, dtype=np.int64)
    for rows in open_engine(data.engine).batches(replace(data, roles=roles)):
        decided = first.decide(rows) + 2 * second.decide(rows)
        counts += np.bincount(decided, weights=rows.weight, minlength=4).astype(np.int64)
    neither, only_first, only_second, both = counts.tolist()
    return ChangedRows(only_first=only_first, only_second=only_second, both=both, neither=neither)
