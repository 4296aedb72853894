"""``uqcli conformal``."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from uqcli.base.choices import ConformalMode
from uqcli.base.options import ClusterColumn
from uqcli.conformal.options import ConformalRequest
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import is_typed, refuse_typed, without

_MODE_OPTIONS: Final = {
    ConformalMode.LABEL_CONDITIONAL: ("alpha_by_class",),
    ConformalMode.MARGINAL: ("by",),
    ConformalMode.LABEL_SHIFT: ("shift", "target"),
}
"""Options that only one mode uses."""


def conformal(
    *,
    inputs: options.LabelledInputs = None,
    probabilities: options.ClassProbabilities,
    columns: options.FitColumns,
    clusters: ClusterColumn,
    request: ConformalRequest,
    saving: options.RuleOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Build prediction sets with guaranteed coverage."""
    reads = Reads.from_options(
        inputs, request.target, rules=[request.shift], reading=reading, labels=columns.labels
    )
    context = check_outputs(reporting, saving.output, reads=reads, running=running)
    from uqcli.conformal.run import parse_alpha, run

    parse_alpha(request.alpha)
    refuse_typed(("uncertainty",), "with conformal", "class probabilities only")
    for mode, names in _MODE_OPTIONS.items():
        if request.mode is not mode:  # drop configured values for other modes
            request = without(request, *(name for name in names if not is_typed(name)))
    data = labelled_data(inputs, columns, reading, running, probabilities=probabilities)
    request = replace(request, data=data.clustered_by(clusters.cluster))
    deliver(run(request), reporting, context=context, output=saving.output)
