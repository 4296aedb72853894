"""Kind ``watch``: what a rule promised, and the labelled rows counted since."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from uqcli.base.errors import ArtifactError, UsageError
from uqcli.base.exact_numbers import decimal
from uqcli.base.wording import count, printable
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.reports.document import Document, Metrics, Table
from uqcli.rules.columns import NewColumns
from uqcli.rules.saved import Count, Saved, version_of

UNNAMED: Final = "0" * 64
"""Name of the only batch of a watch without a state file."""

_SAME_EVIDENCE_SINCE: Final = (0, 5)

SHORT: Final = 12
"""Letters of a batch's name in reports."""

_MAX_ROWS: Final = 8


def short_name(batch: str) -> str:
    """Shorten the digest of a batch; days stay."""
    return "this batch" if batch == UNNAMED else batch[:SHORT]


class WatchParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the watch; ``bound`` is null if the rule states what is watched."""

    delta: str
    run_length: Annotated[int, Meta(ge=1)]
    bound: str | None
    day: str | None
    matured: Count
    cluster: str | msgspec.UnsetType = msgspec.UNSET

    def risk(self) -> Fraction:
        """Parse the risk of a false alarm over the lifetime of the rule."""
        return decimal("delta", self.delta, above=0, below=1)


class SavedPromise(msgspec.Struct, frozen=True, kw_only=True):
    """A promise, its counts since the last acknowledgement, and when its alarms were raised.

    ``alarmed_at`` and ``changed_at``: the batch at which the evidence, or the change, raised its alarm; null
    for none.
    """

    name: str
    bound: Annotated[float, Meta(ge=0, le=1)]
    origin: str
    successes: Count
    trials: Count
    alarmed_at: str | None = None
    changed_at: str | None = None


class BatchCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one promise in one batch."""

    successes: Count
    trials: Count


class SavedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch: the digest of its rows or its day, and its counts in the order of the promises.

    ``digest``: of the rows with their labels; versions before 0.4 have that of the inputs' bytes.
    ``unlabelled``: digest of the rows without their labels, of which more may be known later.
    ``rows``, ``dropped``: rows that are counted, and rows that are not; unknown before 0.4, and the latter
    for days. ``clusters``: digests of the clusters of dependent rows that it counts.
    """

    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | msgspec.UnsetType = msgspec.UNSET
    unlabelled: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | msgspec.UnsetType = msgspec.UNSET
    day: Annotated[str, Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    rows: Count | msgspec.UnsetType = msgspec.UNSET
    dropped: Count | msgspec.UnsetType = msgspec.UNSET
    counts: list[BatchCounts]
    clusters: list[Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]] | msgspec.UnsetType = msgspec.UNSET

    @property
    def name(self) -> str:
        """Its day, or else its digest."""
        return str(self.digest if self.day is msgspec.UNSET else self.day)


class WatchArtifact(Saved, frozen=True, kw_only=True):
    """State of a watch.

    ``artifact``: digest of the rule. ``acknowledged``: number of acknowledged batches, which no longer count.
    ``released``: digests of clusters of forgotten batches, which other batches leave out as before.
    """

    parameters: WatchParameters
    artifact: str
    promises: Annotated[list[SavedPromise], Meta(min_length=1)]
    batches: list[SavedBatch]
    acknowledged: Count
    released: list[Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]] | msgspec.UnsetType = msgspec.UNSET

    @property
    def counted(self) -> Sequence[SavedBatch]:
        """Batches since the last acknowledgement."""
        return self.batches[self.acknowledged :]

    @property
    def is_of_other_evidence(self) -> bool:
        """Whether an earlier version, which computed evidence in another way, began to count."""
        version = version_of(self.uqcli_version)
        return version is not None and version < _SAME_EVIDENCE_SINCE

    @property
    def has_one_look(self) -> bool:
        """Whether its rows were counted at once, without days and without a file to keep it."""
        return any(batch.name == UNNAMED for batch in self.batches)

    def contradiction(self) -> str:
        """See Saved."""
        try:
            self.parameters.risk()
        except UsageError as error:
            return str(error)
        return self._in_batches() or self._in_totals()

    def _in_batches(self) -> str:
        """Find the first contradiction in the batches; empty if there is none."""
        if any(len(batch.counts) != len(self.promises) for batch in self.batches):
            return "a batch does not have counts for each promise"
        if any(counts.successes > counts.trials for batch in self.batches for counts in batch.counts):
            return "a batch has more successes than trials"
        if any((batch.digest is msgspec.UNSET) == (batch.day is msgspec.UNSET) for batch in self.batches):
            return "a batch has no digest and no day, or both"
        clusters = [cluster for batch in self.batches for cluster in batch.clusters or ()]
        if len(set(clusters)) < len(clusters):
            return "a cluster is counted twice"
        names = [batch.name for batch in self.batches]
        if len(set(names)) < len(names) or self.acknowledged > len(names):
            return "its batches are repeated, or fewer than those acknowledged"
        return ""

    def _in_totals(self) -> str:
        """Find a promise whose counts are not those of its batches, or None."""
        for index, promise in enumerate(self.promises):
            totals = [batch.counts[index] for batch in self.counted]
            successes, trials = (
                sum(getattr(total, field) for total in totals) for field in ("successes", "trials")
            )
            if (promise.successes, promise.trials) != (successes, trials):
                return "its counts are not those of its batches"
        return ""

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """Raise an ArtifactError: a state adds no columns."""
        del roles, new_columns
        raise ArtifactError("the state of a watch adds no columns", expected="the rule that it watches")

    def metrics(self) -> Metrics:
        """See Saved: the counts of each promise."""
        return {
            "batches": len(self.batches),
            "promises": {
                promise.name: {"successes": promise.successes, "trials": promise.trials}
                for promise in self.promises
            },
        }

    def document(self) -> Document:
        """See Saved."""
        rows = [
            (
                printable(promise.name),
                f"{promise.bound:g}",
                f"{count(promise.successes)} of {count(promise.trials)}",
                promise.alarmed_at or promise.changed_at or "none",
            )
            for promise in self.promises
        ][:_MAX_ROWS]
        since = f", {count(len(self.counted))} since an acknowledgement" if self.acknowledged else ""
        batches = f"{count(len(self.batches))} batch{'' if len(self.batches) == 1 else 'es'}"
        return Document(
            title=f"State of a watch: {batches}{since}",
            tables=[Table(title="", header=("target", "bound", "counted", "alarm at"), rows=rows)],
            notes=[f"Rule: digest {self.artifact}.", self.made_from() + "."],
        )

    def missing_columns(self) -> str:
        """See Saved: it reads no columns itself."""
        return ""
