"""What a schema cannot say: whether the parts of an artifact fit together."""

from __future__ import annotations

import math

import msgspec

from uqcli.artifacts.models import (
    Artifact,
    BoundaryArtifact,
    CalibratorArtifact,
    ConformalArtifact,
    GridArtifact,
    ShiftArtifact,
)
from uqcli.choices import CalibrationMethod, ConformalMode
from uqcli.defaults import MOST_ROWS
from uqcli.engines.request import PROBA
from uqcli.errors import UsageError
from uqcli.exact import decimal
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.methods.calibrate.consistency import contradiction_in_map
from uqcli.methods.calibrate.maps import (
    BetaMap,
    GroupsMap,
    HistogramMap,
    IdentityMap,
    IsotonicMap,
    LogisticMap,
    TreesMap,
    UncertaintyMap,
)


def contradiction_in(artifact: Artifact) -> str | None:
    """The first contradiction, or None."""
    if isinstance(artifact, GridArtifact):
        found = _in_grid(artifact)
    elif isinstance(artifact, CalibratorArtifact):
        found = _of_method(artifact) or contradiction_in_map(artifact.calibration)
    elif isinstance(artifact, ConformalArtifact):
        return _in_conformal(artifact)
    elif isinstance(artifact, ShiftArtifact):
        return _in_shift(artifact)
    else:
        found = _in_boundary(artifact)
    if found is None and "score" not in artifact.source.columns:
        return "it does not name its score column"
    if found is None and artifact.needs_uncertainty and "uncertainty" not in artifact.source.columns:
        return "it does not name its uncertainty column"
    return found


_MAPS_OF = {
    CalibrationMethod.PLATT: LogisticMap,
    CalibrationMethod.TEMPERATURE: LogisticMap,
    CalibrationMethod.BETA: BetaMap,
    CalibrationMethod.ISOTONIC: IsotonicMap,
    CalibrationMethod.HISTOGRAM: HistogramMap,
    CalibrationMethod.MIST: UncertaintyMap,
    CalibrationMethod.HETEROGENEOUS: TreesMap | GroupsMap,
    CalibrationMethod.PRIOR: IdentityMap,
}


def _of_method(artifact: CalibratorArtifact) -> str | None:
    if artifact.weights is not None and not all(0 < each < math.inf for each in artifact.weights):
        return "a class weight is not finite and above 0"
    fits = isinstance(artifact.calibration, _MAPS_OF[artifact.method])
    return None if fits else f"its map is none of method {artifact.method}"


def _in_conformal(artifact: ConformalArtifact) -> str | None:
    classes = artifact.classes
    lines = [artifact.thresholds] + ([] if artifact.groups is None else artifact.groups.thresholds)
    if any(len(line) != len(classes) for line in lines) or len(set(classes)) < len(classes):
        return "it does not have a threshold for each class"
    if not all(0 <= threshold <= 1 for line in lines for threshold in line):
        return "a threshold is not between 0 and 1"
    if artifact.calibration_rows is not None and len(artifact.calibration_rows) != len(classes):
        return "it does not have calibration rows for each class"
    return _in_saved_groups(artifact) or _in_promise(artifact) or _columns_of_classes(artifact)


def _in_saved_groups(artifact: ConformalArtifact) -> str | None:
    groups = artifact.groups
    if (groups is None) != (artifact.parameters.by is None):
        return "its groups are not those of its parameters"
    if groups is None:
        return None
    if len(set(groups.names)) != len(groups.thresholds) or len(groups.names) != len(groups.thresholds):
        return "its groups do not have thresholds each"
    if groups.calibration_rows is not None and len(groups.calibration_rows) != len(groups.names):
        return "its groups do not have calibration rows each"
    return None if groups.column == artifact.parameters.by else "its groups are not those of its parameters"


def _in_promise(artifact: ConformalArtifact) -> str | None:
    asked = artifact.parameters
    if (asked.method, asked.mode) != (artifact.method, artifact.mode):
        return "its method and mode are not those of its parameters"
    try:
        first, *_ = (
            decimal("alpha", each, above=0, below=1)
            for each in (asked.alpha, *(asked.alpha_by_class or {}).values())
        )
    except UsageError as error:
        return str(error)
    if float(first) != artifact.alpha:
        return "its alpha is not that of its parameters"
    if artifact.mode is ConformalMode.MARGINAL and len(set(artifact.thresholds)) > 1:
        return "thresholds of mode marginal differ"
    return _in_weights(artifact)


def _in_weights(artifact: ConformalArtifact) -> str | None:
    weights = artifact.weights
    if (weights is None) == (artifact.mode is ConformalMode.LABEL_SHIFT):
        return "class weights belong to mode label-shift"
    if weights is not None and (len(weights) != len(artifact.classes) or not _usable(weights)):
        return "its class weights are not one for each class, finite and not all 0"
    return None


def _usable(weights: list[float]) -> bool:
    return all(0 <= each < 1e100 for each in weights) and any(weights)


def _in_shift(artifact: ShiftArtifact) -> str | None:
    sizes = {
        len(artifact.classes),
        len(artifact.weights),
        len(artifact.source_prior),
        len(artifact.target_prior),
    }
    if len(sizes) > 1 or len(set(artifact.classes)) < len(artifact.classes):
        return "it does not have a weight and priors for each class"
    numbers = [*artifact.weights, *artifact.source_prior, *artifact.target_prior]
    if not all(map(math.isfinite, numbers)) or min(numbers) < 0 or not _usable(artifact.weights):
        return "its weights and priors are not finite, or all 0"
    priors = (sum(artifact.source_prior), sum(artifact.target_prior))
    if any(abs(total - 1) > 1e-6 for total in priors):
        return "its priors do not add up to 1"
    products = zip(artifact.weights, artifact.source_prior, artifact.target_prior, strict=True)
    if any(abs(weight * source - target) > 1e-9 for weight, source, target in products):
        return "its weights are not the ratios of its priors"
    ends = artifact.interval
    if ends is not None and (len(ends) != len(artifact.classes) or any(len(pair) != 2 for pair in ends)):
        return "it does not have an interval for each class"
    return _in_draws(artifact) or _columns_of_classes(artifact)


def _in_draws(artifact: ShiftArtifact) -> str | None:
    classes = len(artifact.classes)
    fine = all(len(line) == classes and all(map(math.isfinite, line)) for line in artifact.draws or ())
    return None if fine else "a draw is not a finite weight for each class"


def _columns_of_classes(artifact: ConformalArtifact | ShiftArtifact) -> str | None:
    columns = artifact.source.columns
    if "score" in columns:
        return None if artifact.classes == ["0", "1"] else "its classes are not those of one score"
    missing = [name for name in artifact.classes if f"{PROBA}{name}" not in columns]
    return f"it does not name the column of class '{missing[0]}'" if missing else None


def _in_boundary(artifact: BoundaryArtifact) -> str | None:
    edges, thresholds, fit = artifact.uncertainty_edges, artifact.thresholds, artifact.fit
    numbers = edges + [threshold for threshold in thresholds if threshold is not None]
    raised = artifact.recalibration
    if not isinstance(raised, msgspec.UnsetType):
        numbers += [raised.coefficient, raised.low, raised.high, raised.high - raised.low]
    if len(thresholds) != len(edges) + 1:
        return f"{len(thresholds)} thresholds for {len(edges)} uncertainty edges"
    if not all(map(math.isfinite, numbers)) or edges != sorted(edges):
        return "its edges and thresholds are not finite and ascending"
    if (
        not fit.true_positives
        <= min(fit.selected, fit.positives)
        <= max(fit.selected, fit.positives)
        <= fit.rows
    ):
        return "its fit counts contradict each other"
    try:
        parse_constraint(artifact.constraint.kind, artifact.constraint.value)
    except UsageError as error:
        return str(error)
    return None


def _in_grid(artifact: GridArtifact) -> str | None:
    rows = len(artifact.uncertainty_edges) + 1
    if not rows == len(artifact.score_edges) == len(artifact.count) == len(artifact.positives):
        return "its matrices do not have a row for each uncertainty bin"
    widths = {len(row) for row in (*artifact.count, *artifact.positives)}
    if widths | {len(row) + 1 for row in artifact.score_edges} != widths or len(widths) != 1:
        return "its rows differ in length"
    for edges in (artifact.uncertainty_edges, *artifact.score_edges):
        if not all(map(math.isfinite, edges)) or edges != sorted(edges):
            return "its edges are not finite and ascending"
    return _in_counts(artifact)


def _in_counts(artifact: GridArtifact) -> str | None:
    pairs = zip(artifact.count, artifact.positives, strict=True)
    if any(p > n for counts, positives in pairs for n, p in zip(counts, positives, strict=True)):
        return "a cell has more positives than rows"
    if not 0 < sum(map(sum, artifact.count)) <= MOST_ROWS:
        return f"it does not count between 1 and {MOST_ROWS} rows"
    shape = artifact.binning, len(artifact.count)
    if shape != (artifact.parameters.binning, artifact.parameters.uncertainty_bins):
        return "its bins are not those of its parameters"
    return None
