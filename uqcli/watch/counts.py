"""Count the trials and successes of promises, by day or over all inputs.

Days are dates, or other keys that sort, each counted once when its labels are complete.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import FLOATING_WHOLE, Bools, Floats, Ints
from uqcli.base.draws import hashes, text_keys
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.single_precision import of_texts
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule import BoundaryArtifact, groups_of
from uqcli.boundary.rule_file import ZONES
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import label_indices
from uqcli.engines.protocol import CheckedBatches, SourceSummary
from uqcli.engines.request import DataRequest, Roles
from uqcli.estimates.confusion import Rate
from uqcli.estimates.design import MIN_UNFLAGGED, too_few_labels
from uqcli.estimates.unit_trials import UnitTrials
from uqcli.kernels.units import UnitTable
from uqcli.rules.saved import Saved
from uqcli.watch.days import Days, days_of
from uqcli.watch.first_rows import ranked

ALL: Final = ""
"""Name of all rows, where no column of days separates them."""

Counts = tuple[tuple[int, int], ...]
"""Successes and trials of each promise."""


ClusterTrials = list[dict[str, tuple[int, int]]]
"""Successes and trials of each promise, by digest of the promise and the cluster."""


@dataclass(frozen=True, kw_only=True)
class CountedInputs:
    """Counts of some inputs, and their usable rows, by day.

    Days are in order; if they are not separated, all rows are under ``ALL``. The digests, if any, are
    those of the rows with their labels, and of all rows without labels; first as they are saved, then as
    earlier versions saved them. ``young`` are rows of days that have not matured, and ``unwatched`` rows of
    groups that no promise is about. ``stray`` and ``missing`` are days as in ``Days``. If rows depend on each
    other, ``clusters`` has, by day, the successes and trials of each promise by cluster.
    """

    by_day: Mapping[str, Counts]
    rows: Mapping[str, int]
    labelled: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    young: int
    unwatched: int
    stray: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    summary: SourceSummary
    clusters: Mapping[str, ClusterTrials] = field(default_factory=dict)


class AllRows:
    """All rows are counted together, and no state knows them by their digest."""

    column: str | None = None

    def digest(self) -> RowDigest | _NoDigest:
        """Return what adds up the digests of rows."""
        return _NoDigest()

    def codes(self, rows: Rows) -> Ints:
        """Return the code of the day of each row."""
        return np.zeros(len(rows), dtype=np.int64)

    def days(self, tally: _Tally, batches: CheckedBatches) -> tuple[Mapping[int, str], Days]:  # noqa: ARG002
        """Name the codes, and find the days whose labels are complete."""
        return {0: ALL}, Days(complete=(ALL,))

    def rows(self, summary: SourceSummary, rows_of: Mapping[str, int]) -> Mapping[str, int]:  # noqa: ARG002
        """Return the number of rows by day."""
        return {ALL: summary.rows}


class ByDay(AllRows):
    """The rows of each day of a column are counted ``matured`` days later, when their labels are complete.

    Either all days are dates or none is, else a DataError says so. ``counted`` are the names of days that
    were counted before.
    """

    key: str
    matured: int
    counted: Collection[str]

    def codes(self, rows: Rows) -> Ints:
        """See AllRows."""
        return rows.groups[self.key]

    def days(self, tally: _Tally, batches: CheckedBatches) -> tuple[Mapping[int, str], Days]:
        """See AllRows: unusable rows are no day."""
        rows = tally.rows_by_code
        codes = {text: code for text, code in batches.levels.get(self.key, {}).items() if rows.get(code)}
        of_texts = {text: rows[code] for text, code in codes.items()}
        named = days_of(of_texts, self.key, self.matured, self.counted)
        return {code: named.name_by_text[text] for text, code in codes.items()}, named

    def rows(self, summary: SourceSummary, rows_of: Mapping[str, int]) -> Mapping[str, int]:  # noqa: ARG002
        """See AllRows."""
        return rows_of


def count_promises(
    data: DataRequest, rule: Saved, promises: Sequence[Promise], separated: AllRows, known: Collection[str]
) -> CountedInputs:
    """Count the rows of some inputs, with the columns of the rule and the label, together or by day.

    ``known`` are the digests of clusters that a state knows.
    """
    data, digest = data.keyed_by(separated.column), separated.digest()
    data, rule = ranked(data, rule, separated.column)
    batches = open_engine(data.engine).batches(data)
    tally = _Tally(rule, promises, separated, data.roles.cluster)
    for rows in batches:
        digest.add(rows)
        tally.add(rows, batches.roles)
    if tally.weighed == 0:
        raise refusals.no_weight()
    _refuse_labels_of_flagged_rows(promises, batches.summary, tally.cleared)
    names, named = separated.days(tally, batches)
    by_day, rows_of, young = tally.of_days(names, named.complete)
    return CountedInputs(
        by_day=by_day,
        rows=separated.rows(batches.summary, rows_of),
        labelled=digest.labelled,
        unlabelled=digest.unlabelled_of(data, batches),
        young=young,
        unwatched=tally.unwatched,
        stray=named.stray,
        missing=named.missing,
        summary=batches.summary,
        clusters=_by_cluster(
            tally.of_clusters,
            promises,
            batches.levels.get(data.roles.cluster or "", {}),
            {code: name for code, name in names.items() if name in by_day},
            known,
        ),
    )


class _Tally:
    """Trials and successes of promises by code of the day, added up batch by batch."""

    def __init__(
        self, rule: Saved, promises: Sequence[Promise], separated: AllRows, cluster: str | None
    ) -> None:
        self._rule, self._promises, self._separated, self._cluster = rule, promises, separated, cluster
        self._of_days = UnitTable()  # columns: rows, then failures and successes of each promise
        self.of_clusters = [UnitTrials() for _ in promises]
        self.weighed = self.unwatched = self.cleared = 0

    def add(self, rows: Rows, roles: Roles) -> None:
        """Add the rows of a batch."""
        self.weighed += rows.size
        copies = None if roles.weight else rows.weight  # a cluster pools equal rows
        if isinstance(self._rule, BoundaryArtifact):
            self.cleared += _number(~self._rule.decide(rows), copies)
        self.unwatched += _number(_unwatched(rows, self._rule, self._promises), copies)
        days = self._separated.codes(rows)
        self._of_days.add(days, np.zeros(len(rows), dtype=np.int64), copies)
        for number, (tried, succeeded) in enumerate(outcomes(self._rule, self._promises, rows, roles)):
            own, count = days[tried], None if rows.weight is None else rows.weight[tried]
            self._of_days.add(own, 1 + 2 * number + succeeded[tried], count)
            if self._cluster is not None:
                self.of_clusters[number].add(own, rows.groups[self._cluster][tried], count, succeeded[tried])

    @property
    def rows_by_code(self) -> dict[int, int]:
        """Number of rows by code of the day."""
        return dict(enumerate(self._of_days.sums[:, 0].tolist()))

    def of_days(
        self, names: Mapping[int, str], complete: Sequence[str]
    ) -> tuple[dict[str, Counts], dict[str, int], int]:
        """Return counts and rows of the days whose labels are complete, and the rows of the other days.

        ``names`` are those of the codes; several may be of one day.
        """
        by_day = {name: np.zeros((2, len(self._promises)), dtype=np.int64) for name in complete}
        rows_of, young = dict.fromkeys(complete, 0), 0
        codes = np.arange(max(names, default=0) + 1)
        rows_of_day, *counts = self._of_days.of(codes, 1 + 2 * len(self._promises)).T
        totals = np.stack([counts[1::2], np.add(counts[0::2], counts[1::2])])
        for code, name in names.items():
            if name in by_day:
                by_day[name] += totals[:, :, code]
                rows_of[name] += int(rows_of_day[code])
            else:
                young += int(rows_of_day[code])
        return {name: _pairs(of_day) for name, of_day in by_day.items()}, rows_of, young


def _number(chosen: Bools, copies: Ints | None) -> int:
    """Return the number of chosen rows, each of which stands for so many equal ones, or for itself."""
    return int(np.count_nonzero(chosen) if copies is None else copies[chosen].sum())


def _by_cluster(
    counted: Sequence[UnitTrials],
    promises: Sequence[Promise],
    levels: Mapping[str, int],
    days: Mapping[int, str],
    known: Collection[str],
) -> dict[str, ClusterTrials]:
    """Add up successes and trials by day, promise and digest of the cluster; empty without clusters.

    Versions up to 0.4 took the whole number 2 for another cluster than 2.0, by which a state may know it.
    """
    if not levels:
        return {}
    texts = sorted(levels, key=levels.__getitem__)
    whole = (
        {}
        if not known
        else {
            code: f"{text}.0" for code, text in enumerate(texts) if re.fullmatch(FLOATING_WHOLE, f"{text}.0")
        }
    )
    by_day: dict[str, ClusterTrials] = {day: [{} for _ in promises] for day in days.values()}
    for number, (promise, clusters) in enumerate(zip(promises, counted, strict=True)):
        name = promise.name
        digests, older = (
            [f"{key:016x}" for key in text_keys(f"{name}\0{text}" for text in spelt).tolist()]
            for spelt in (texts, whole.values())
        )
        for code, old in zip(whole, older, strict=True):
            if old in known and digests[code] not in known:
                digests[code] = old
        columns = (column.tolist() for column in clusters.pairs)
        for code, index, successes, trials in zip(*columns, strict=True):
            if trials and code in days:
                of_day = by_day[days[code]][number]
                before = of_day.get(digests[index], (0, 0))
                of_day[digests[index]] = before[0] + successes, before[1] + trials
    return by_day


def new_trials(clusters: ClusterTrials, seen: Collection[str]) -> tuple[Counts, list[str]]:
    """Count the rows of clusters whose digests were not ``seen`` before; return counts and new digests."""
    counts, digests = [], []
    for of_promise in clusters:
        new = [digest for digest in of_promise if digest not in seen]
        own = [of_promise[digest] for digest in new]
        counts.append((sum(successes for successes, _ in own), sum(trials for _, trials in own)))
        digests += new
    return tuple(counts), sorted(digests)


def _refuse_labels_of_flagged_rows(promises: Sequence[Promise], summary: SourceSummary, cleared: int) -> None:
    """Refuse to watch a rate of all rows if labels are missing, mostly those of rows that are not flagged."""
    of_all_rows = [promise for promise in promises if promise.rate not in ("precision", "coverage")]
    if of_all_rows and summary.unlabelled and cleared < MIN_UNFLAGGED:
        raise DataError(
            too_few_labels(summary.unlabelled, cleared),
            expected=f"labels that show whether {of_all_rows[0].text()}",
            remedy="label rows that are not flagged also, or watch a rule with a target for precision",
        )


def _unwatched(rows: Rows, rule: Saved, promises: Sequence[Promise]) -> Bools:
    """Return which rows are of groups that no promise of a boundary is about."""
    if not isinstance(rule, BoundaryArtifact) or (key := rule.own_key) is None:
        return np.zeros(len(rows), dtype=bool)
    levels = rule.own_levels
    watched = [levels[str(promise.group)] for promise in promises]  # each is of a group
    return ~np.isin(groups_of(rows, key), watched)


def _pairs(totals: Ints) -> Counts:
    """Convert successes and trials, shape (2, promises)."""
    return tuple((successes, tried) for successes, tried in totals.T.tolist())


def outcomes(rule: Saved, promises: Sequence[Promise], rows: Rows, roles: Roles) -> list[tuple[Bools, Bools]]:
    """Return two masks of rows for each promise: what is tried, and what succeeds."""
    if isinstance(rule, BoundaryArtifact):
        return _of_boundary(rule, promises, rows)
    assert isinstance(rule, ConformalArtifact)  # no other kind promises anything
    return _of_sets(rule, promises, rows, roles)


def _of_boundary(
    rule: BoundaryArtifact, promises: Sequence[Promise], rows: Rows
) -> list[tuple[Bools, Bools]]:
    zone, positive = rule.zones(rows), rows.labels
    flagged, kept = zone == ZONES.index("flag"), zone != ZONES.index("clear")
    masks = {
        rate: PROMISED[rate].kept.outcomes(flagged, kept, positive)
        for rate in {promise.rate for promise in promises} & set(PROMISED)
    }
    masks[str(Rate.MISSED)] = Rate.CAUGHT.outcomes(flagged, kept, positive)
    if rule.own_key is None:
        return [masks[promise.rate] for promise in promises]
    group, levels = groups_of(rows, rule.own_key), rule.own_levels
    outcomes = ((levels[str(promise.group)], masks[promise.rate]) for promise in promises)
    return [(tried & (group == level), succeeded) for level, (tried, succeeded) in outcomes]


def _of_sets(
    rule: ConformalArtifact, promises: Sequence[Promise], rows: Rows, roles: Roles
) -> list[tuple[Bools, Bools]]:
    label, every_row = label_indices(rows), np.ones(len(rows), dtype=np.bool_)
    covered = rule.sets(roles)(rows)[np.arange(len(rows)), label]
    names, part = list(rule.classes), label
    if rule.groups is not None:
        names, part = list(rule.groups.names), rule.groups.of_row(rows)
    groups = (promise.group for promise in promises)
    return [(every_row if group is None else part == names.index(group), covered) for group in groups]


_KEYS = (1, 2)
"""Keys of two hashes of a row, whose sums are 128 bits together."""


class RowDigest:
    """Sums of hashes of rows, with their labels and without.

    The shortest text of a 32-bit number is the same as the number, but not in digests of earlier versions.
    """

    def __init__(self) -> None:
        self._sums = np.zeros((2, 2, len(_KEYS)), dtype=np.uint64)  # now and in earlier versions, by labels
        self._rows = 0

    def add(self, rows: Rows) -> None:
        """Add rows; a row of weight 2 counts as two rows."""
        exact = [rows.numbers[role] for role in sorted(rows.numbers)]
        alike = [of_texts(numbers) for numbers in exact]
        now = before = self._hashed(rows, alike)
        if not all(map(np.array_equal, alike, exact)):
            before = self._hashed(rows, exact)
        self._sums += np.stack([now, before])
        self._rows += rows.size

    @staticmethod
    def _hashed(rows: Rows, numbers: list[Floats]) -> NDArray[np.uint64]:
        """Sum the hashes of rows with their labels and without, modulo 2**64; shape (2, keys)."""
        weight = rows.weights().astype(np.uint64)
        values: list[NDArray[np.generic]] = [
            *numbers,
            *(rows.features[name].value for name in sorted(rows.features)),
        ]
        label = rows.positive if rows.label_class is None else rows.label_class
        with_label = values if label is None else [*values, label]
        return np.array(
            [[(hashes(columns, key) * weight).sum() for key in _KEYS] for columns in (with_label, values)],
            dtype=np.uint64,
        )

    @property
    def labelled(self) -> tuple[str, str]:
        """Digest of the rows with their labels, now and in earlier versions."""
        return self._of(0)

    @property
    def unlabelled(self) -> tuple[str, str]:
        """Digest of the rows without their labels, now and in earlier versions."""
        return self._of(1)

    def unlabelled_of(self, data: DataRequest, batches: CheckedBatches) -> tuple[str, str]:
        """Return the digests of all rows without their labels, read again if some have no label."""
        if not batches.dropped and not batches.roles.predicted:
            return self.unlabelled
        roles = replace(data.roles, label=None, predicted=False, cluster=None)
        digest = RowDigest()
        for rows in open_engine(data.engine).batches(replace(data, roles=roles, labels=None)):
            digest.add(rows)
        return digest.unlabelled

    def _of(self, index: int) -> tuple[str, str]:
        now, before = (
            sha256(f"{self._rows} {sums[index].tolist()}".encode()).hexdigest() for sums in self._sums
        )
        return now, before


class _NoDigest:
    """No digests, for rows that no state knows by them."""

    labelled = ()

    def add(self, rows: Rows) -> None:
        """Leave the rows."""

    def unlabelled_of(self, data: DataRequest, batches: CheckedBatches) -> tuple[()]:  # noqa: ARG002
        """Return none."""
        return ()
