"""``uqcli overview``, which ``uqcli FILE`` runs as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from uqcli.base.errors import Opt
from uqcli.base.operating_system import join, split
from uqcli.base.options import names
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import current_line, refuse_typed, settled, words_of
from uqcli.overview.options import OverviewRequest

_NOT_OF_OTHERS = frozenset({"--audit", "--uncertainty", "--score", "--label"})
"""Options with a value that the next commands do not take, or take with another value."""


def overview(
    *,
    inputs: options.LabelledInputs = None,
    columns: options.FitColumns,
    request: OverviewRequest,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Show what a file of scores and labels holds, and what to do next."""
    reads = Reads.from_options(inputs, reading=reading, labels=columns.labels)
    context = check_outputs(reporting, None, reads=reads, running=running, plot=figure.plot, has_figures=True)
    scores = names(Opt("score"), columns.score)
    data = labelled_data(inputs, columns, reading, running)
    if len(scores) > 1:
        from uqcli.overview.scores import run_scores

        refuse_typed(("audit", "uncertainty"), "with several scores", "one score")
        compared = run_scores(replace(request, data=data, named=settled()), scores)
        columns_read = {"score": "score", "label": compared.report.source.columns["label"]}
        compared = replace(compared, report=replace(compared.report, inputs=_arguments(columns_read, {})))
        deliver(compared, reporting, context=context, plot=figure.plot)
        return
    from uqcli.overview.run import run

    named = settled()
    result = run(
        replace(
            request,
            data=data,
            named=named,
            uncertainties=names(Opt("uncertainty"), columns.uncertainty) if "uncertainty" in named else (),
        )
    )
    content = result.report.content
    report = replace(result.report, arguments=_arguments(result.report.source.columns, content.taken))
    deliver(replace(result, report=report), reporting, context=context, plot=figure.plot)


def _arguments(columns: Mapping[str, str], taken: Mapping[str, Sequence[str]]) -> str:
    """Return the inputs and the options of reading, as typed or found, with the columns that were read."""
    _, line, _ = current_line()
    words, kept = split(line)[2:], list[str]()
    while words:
        word = words.pop(0)
        if word == "--":
            kept += ["--", *words]
            break
        if word in _NOT_OF_OTHERS:
            words = words[1:]
        else:
            kept.append(word)
    named = [
        word for role in ("score", "label") if columns[role] != role for word in (f"--{role}", columns[role])
    ]
    named += words_of({option: values for option, values in taken.items() if option not in columns})
    position = kept.index("--") if "--" in kept else len(kept)
    return join([*kept[:position], *named, *kept[position:]])
