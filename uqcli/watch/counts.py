"""Count the trials and successes of promises, by day or over all inputs.

Days are dates, or other keys that sort, each counted once when its labels are complete.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import FLOATING_WHOLE, Bools, Floats, Ints
from uqcli.base.draws import hashes, text_keys
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.single_precision import of_texts
from uqcli.boundary.rule import ZONES, BoundaryArtifact, groups_of
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import label_indices
from uqcli.engines.protocol import CheckedBatches, SourceSummary
from uqcli.engines.request import DataRequest, Roles
from uqcli.estimates.design import MIN_UNFLAGGED, too_few_labels
from uqcli.estimates.unit_trials import UnitTrials
from uqcli.kernels.units import UnitTable
from uqcli.rules.saved import Saved
from uqcli.watch.days import Days, days_of
from uqcli.watch.promises import Promise

Counts = tuple[tuple[int, int], ...]
"""Successes and trials of each promise."""


ClusterTrials = list[dict[str, tuple[int, int]]]
"""Successes and trials of each promise, by digest of the promise and the cluster."""


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """Counts of some inputs, and their usable rows, by day.

    Days are in order; if they are not separated, those of all rows are under None. The digests, if requested,
    are those of the rows with their labels, and of all rows without labels; first as they are saved, then as
    earlier versions saved them. ``young`` are rows of days that have not matured, and ``unwatched`` rows of
    groups that no promise is about. ``stray`` and ``missing`` are days as in ``Days``. If rows depend on each
    other, ``clusters`` has, by day, the successes and trials of each promise by cluster.
    """

    by_day: Mapping[str | None, Counts]
    rows: Mapping[str | None, int]
    labelled: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    young: int
    unwatched: int
    stray: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    summary: SourceSummary
    clusters: Mapping[str | None, ClusterTrials] = field(default_factory=dict)


def count_promises(
    data: DataRequest,
    rule: Saved,
    promises: Sequence[Promise],
    *,
    day: str | None,
    matured: int,
    counted: Collection[str] | None,
    clusters: Collection[str],
) -> CountedRows:
    """Count the rows of some inputs, with the columns of the rule and the label.

    The rows of a day are counted ``matured`` days later, when their labels are complete. Either all days are
    dates or none is, else a DataError says so. Without a column of days all rows are counted together.
    ``counted`` are the names of batches that were counted before, None without a state, and ``clusters`` the
    digests of those that it knows.
    """
    data = data.keyed_by(day)
    cluster = data.roles.cluster
    of_clusters, of_days = [UnitTrials() for _ in promises], UnitTable()
    batches = open_engine(data.engine).batches(data)
    weighed = unwatched = cleared = 0
    digest = None if counted is None or day is not None else RowDigest()
    for rows in batches:
        if digest is not None:
            digest.add(rows)
        weighed += rows.size
        weight = rows.weights()
        copies = np.ones_like(weight) if batches.roles.weight else weight  # a cluster pools equal rows
        if isinstance(rule, BoundaryArtifact):
            cleared += int(copies[~rule.decide(rows)].sum())
        index = np.zeros(len(rows), dtype=np.int64) if day is None else rows.groups[day]
        of_days.add(index, np.zeros(len(rows), dtype=np.int64), copies)
        unwatched += int(copies[_unwatched(rows, rule, promises)].sum())
        for number, (tried, succeeded) in enumerate(_outcomes(rule, promises, rows, batches.roles)):
            own, count = index[tried], None if rows.weight is None else rows.weight[tried]
            of_days.add(own, 1 + 2 * number + succeeded[tried], count)
            if cluster is not None:
                of_clusters[number].add(own, rows.groups[cluster][tried], count, succeeded[tried])
    if weighed == 0:
        raise refusals.no_weight()
    _refuse_labels_of_flagged_rows(promises, batches.summary, cleared)
    names: dict[int, str | None] = {0: None}
    mature: Sequence[str | None] = [None]
    named = Days()
    if day is not None:
        rows_by_code = dict(enumerate(of_days.sums[:, 0].tolist()))
        levels = batches.levels.get(day, {}).items()
        codes = {text: code for text, code in levels if rows_by_code.get(code)}  # unusable rows are no day
        rows_by_text = {text: rows_by_code[code] for text, code in codes.items()}
        named = days_of(rows_by_text, day, matured, counted or ())
        names, mature = {code: named.name_by_text[text] for text, code in codes.items()}, named.complete
    by_day = {name: np.zeros((2, len(promises)), dtype=np.int64) for name in mature}
    rows_of, young = dict.fromkeys(mature, 0), 0
    rows_of_day, *counts = of_days.of(np.arange(max(names, default=0) + 1), 1 + 2 * len(promises)).T
    totals = np.stack([counts[1::2], np.add(counts[0::2], counts[1::2])])
    for code, name in names.items():
        if name in by_day:
            by_day[name] += totals[:, :, code]
            rows_of[name] += int(rows_of_day[code])
        else:
            young += int(rows_of_day[code])
    return CountedRows(
        by_day={name: _pairs(counts) for name, counts in by_day.items()},
        rows={None: batches.summary.rows} if day is None else rows_of,
        labelled=() if digest is None else digest.labelled,
        unlabelled=() if digest is None else _unlabelled(data, digest, batches),
        young=young,
        unwatched=unwatched,
        stray=named.stray,
        missing=named.missing,
        summary=batches.summary,
        clusters=_by_cluster(
            of_clusters,
            promises,
            batches.levels.get(cluster or "", {}),
            {code: name for code, name in names.items() if name in by_day},
            clusters,
        ),
    )


def _unlabelled(data: DataRequest, digest: RowDigest, batches: CheckedBatches) -> tuple[str, ...]:
    """Return the digests of all rows without their labels, read again if some have no label."""
    if not batches.dropped and not batches.roles.predicted:
        return digest.unlabelled
    roles = replace(data.roles, label=None, predicted=False, cluster=None)
    digest = RowDigest()
    for rows in open_engine(data.engine).batches(replace(data, roles=roles, labels=None)):
        digest.add(rows)
    return digest.unlabelled


def _by_cluster(
    counted: Sequence[UnitTrials],
    promises: Sequence[Promise],
    levels: Mapping[str, int],
    days: Mapping[int, str | None],
    known: Collection[str],
) -> dict[str | None, ClusterTrials]:
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
    by_day: dict[str | None, ClusterTrials] = {day: [{} for _ in promises] for day in days.values()}
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
    watched = [levels[promise.group] for promise in promises if promise.group is not None]
    return ~np.isin(groups_of(rows, key), watched)


def _pairs(totals: Ints) -> Counts:
    """Convert successes and trials, shape (2, promises)."""
    return tuple((successes, tried) for successes, tried in totals.T.tolist())


def _outcomes(
    rule: Saved, promises: Sequence[Promise], rows: Rows, roles: Roles
) -> list[tuple[Bools, Bools]]:
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
        rate: PROMISED[rate].kept.outcomes(kept if PROMISED[rate].is_of_cleared else flagged, positive)
        for rate in {promise.rate for promise in promises} & set(PROMISED)
    }
    masks["miss"] = positive, kept
    key, levels = rule.own_key, rule.own_levels
    group = None if key is None else groups_of(rows, key)
    listed = []
    for promise in promises:
        tried, succeeded = masks[promise.rate]
        if promise.group is not None and group is not None:
            tried = tried & (group == levels[promise.group])
        listed.append((tried, succeeded))
    return listed


def _of_sets(
    rule: ConformalArtifact, promises: Sequence[Promise], rows: Rows, roles: Roles
) -> list[tuple[Bools, Bools]]:
    label, group = label_indices(rows), rule.group_of(rows)
    covered = rule.sets(roles)(rows)[np.arange(len(rows)), label]
    listed = []
    for promise in promises:
        tried = np.ones(len(rows), dtype=np.bool_)
        if promise.group is not None and rule.groups is not None and group is not None:
            tried = group == rule.groups.names.index(promise.group)
        elif promise.group is not None:
            tried = label == rule.classes.index(promise.group)
        listed.append((tried, covered))
    return listed


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

    def _of(self, index: int) -> tuple[str, str]:
        now, before = (
            sha256(f"{self._rows} {sums[index].tolist()}".encode()).hexdigest() for sums in self._sums
        )
        return now, before
