"""The command line as what asks for a run: progress on the terminal, and what a run prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from uqcli.base.files import STDIO, check_results_stream
from uqcli.base.records import dataclass
from uqcli.cli.config import configuration_files
from uqcli.cli.failed_run import mark_started, mark_written, record_labels, skip_json_error
from uqcli.cli.process import hide_progress, show_progress
from uqcli.jobs.delivery import Delivery, Ending
from uqcli.jobs.options import ReportOptions
from uqcli.jobs.shell import Shell


@dataclass(frozen=True, kw_only=True)
class CommandLine(Shell):
    """A command line: it is told how the run goes, and prints what it delivers."""

    def own_files(self) -> tuple[str, ...]:
        """Return the names of configuration files."""
        return tuple(map(str, configuration_files()))

    def check_streams(self, results: str | None, options: ReportOptions, *, to_files: bool) -> None:
        """Refuse results for a standard output that is closed."""
        check_results_stream(STDIO if options.json else results)
        if not (to_files or options.quiet):
            check_results_stream(STDIO, "redirect it to a file, or give --report FILE")

    def label(self, labels: tuple[tuple[str, str], ...]) -> None:
        """Take the labels of all samples, for those that say how the run went."""
        record_labels(labels)

    def begin(self, output: str | None, options: ReportOptions) -> None:
        """Show progress; reports of samples say from here on that a run goes on."""
        if not options.quiet:
            show_progress(output)
        mark_started()

    def end(self) -> None:
        """Stop showing progress."""
        hide_progress()

    def deliver(self, delivery: Delivery) -> None:
        """Print the report, and cautions on standard error unless the report is printed on the terminal."""
        skip_json_error()
        stream = sys.stderr if delivery.output == STDIO else sys.stdout
        with _printing(delivery.ending):
            if delivery.options.json:
                stream.write(delivery.ending.as_json())
            elif _is_shown(delivery.options):
                delivery.write(stream)
            stream.flush()
        mark_written()
        if sys.stderr.isatty() and not (_is_shown(delivery.options) and stream.isatty()):
            sys.stderr.write("".join(f"caution: {sentence}\n" for sentence in delivery.warnings))


def _is_shown(options: ReportOptions) -> bool:
    """Whether the report is printed as text."""
    return not (options.json or options.quiet)


@contextmanager
def _printing(ending: Ending) -> Iterator[None]:
    """Print to a pipe that may be closed: after a failure its exit code counts."""
    try:
        yield
    except BrokenPipeError:
        if not ending.is_stopped:
            raise
