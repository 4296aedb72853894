"""``uqcli conformal``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Final

from uqcli import defaults
from uqcli.choices import ConformalMethod, ConformalMode
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import choice, flag, option
from uqcli.cli.inputs import labelled_data
from uqcli.cli.options import (
    ArtifactOutput,
    ClassProbabilities,
    ClusterColumn,
    FitColumns,
    InputOptions,
    LabelledInputs,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.errors import UsageError
from uqcli.records import dataclass

_MODE_OPTIONS: Final = {
    ConformalMode.LABEL_CONDITIONAL: ("alpha_by_class",),
    ConformalMode.MARGINAL: ("by",),
    ConformalMode.LABEL_SHIFT: ("shift", "target"),
}
"""Options that only one mode uses."""


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """Coverage of the prediction sets, overall or by class or group."""

    panel: ClassVar = "Sets"

    alpha: str = option("A", "Share of rows whose set may miss the true class.", defaults.MISCOVERAGE)
    method: ConformalMethod = choice(
        "aps: classes by cumulative probability; lac: classes above a threshold.", defaults.CONFORMAL_METHOD
    )
    mode: ConformalMode = choice(
        "Coverage over all rows (marginal), in each class (label-conditional), or under other class "
        "priors (label-shift).",
        defaults.CONFORMAL_MODE,
        metavar="NAME",
    )
    alpha_by_class: str | None = option("CLASS=A,...", "label-conditional: other alphas for some classes.")
    by: str | None = option(
        "COL", "marginal: coverage in each group of this column; new groups use all rows."
    )
    shift: str | None = option("SHIFT.json", "label-shift: saved class weights.")
    target: list[str] | None = option(
        "FILE", "label-shift: unlabelled new data, instead of --shift (repeatable)."
    )
    no_randomize: bool = flag("aps: larger sets without random draws.")
    seed: int = option("S", "Seed of the random draws.", defaults.SEED, min=0, max=defaults.MAX_SEED)


def conformal(
    *,
    inputs: LabelledInputs = None,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    clusters: ClusterColumn,
    sets: SetOptions,
    written: ArtifactOutput,
    reporting: ReportOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Build prediction sets with guaranteed coverage."""
    reads = Reads.from_options(
        inputs, sets.target, rules=[sets.shift], reading=reading, labels=columns.labels
    )
    provenance = check_outputs(reporting, written.output, reads=reads, running=running)
    from uqcli.jobs.conformal.run import ConformalRequest, parse_alpha, run

    parse_alpha(sets.alpha)
    refuse_typed(("uncertainty",), "with conformal", "class probabilities only")
    for mode, names in _MODE_OPTIONS.items():
        if sets.mode is not mode:  # drop configured values for other modes
            unused: dict[str, Any] = {name: None for name in names if not is_typed(name)}
            sets = replace(sets, **unused)
    request = ConformalRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities).clustered_by(
            clusters.cluster
        ),
        method=sets.method,
        mode=sets.mode,
        alpha=sets.alpha,
        alpha_by_class=_parsed_alphas(sets.alpha_by_class),
        randomize=not sets.no_randomize,
        seed=sets.seed,
        by=sets.by,
        shift=sets.shift,
        target=tuple(sets.target) if sets.target else None,
    )
    deliver(run(request), reporting, provenance=provenance, output=written.output)


def _parsed_alphas(text: str | None) -> dict[str, str]:
    """Parse ``CLASS=A,...`` to a mapping."""
    alpha_by_class: dict[str, str] = {}
    for item in () if text is None else text.split(","):
        name, equals, value = item.rpartition("=")
        if not equals or name.strip() in alpha_by_class:
            raise UsageError(f"--alpha-by-class '{text}'", expected="CLASS=A,... with each class once")
        alpha_by_class[name.strip()] = value.strip()
    return alpha_by_class
