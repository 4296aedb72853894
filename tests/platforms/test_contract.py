"""The contract tests of bad input, damage, pipes and Ctrl-C, as processes on a simulated Windows."""

import signal

import pytest

from tests.cli import test_contract_bad_input, test_damage, test_interruption, test_process
from tests.cli.test_interruption import folder  # noqa: F401  their fixture

pytestmark = pytest.mark.usefixtures("on_windows")

CHANGED_HERE = "it changes or calls the program within the process of the tests"
NO_SIGNAL = "Windows has no such signal; tests below send the one that it has"
NO_FIFO = "Windows has no FIFOs"

LEFT_OUT = {
    "test_an_arithmetic_error_is_not_reported_as_a_broken_file": CHANGED_HERE,
    "test_an_unexpected_panic_is_an_internal_error": CHANGED_HERE,
    "test_lack_of_memory_exits_three": CHANGED_HERE,
    "test_seeds_of_the_api_are_checked": CHANGED_HERE,
    "test_a_closed_standard_input_is_an_error": CHANGED_HERE,
    "test_every_command_has_contract_tests": CHANGED_HERE,
    "test_warnings_are_errors_in_tests": CHANGED_HERE,
    "test_a_run_in_progress_keeps_its_temporary": CHANGED_HERE,
    "test_without_file_locks_no_temporary_is_removed": CHANGED_HERE,
    "test_queued_files_are_moved_only_at_commit": CHANGED_HERE,
    "test_temporaries_are_registered_before_they_are_created": CHANGED_HERE,
    "test_no_temporary_is_created_while_the_process_ends": CHANGED_HERE,
    "test_signals_at_the_start_of_the_program_end_it": NO_SIGNAL,
    "test_signals_around_the_rename_report_the_written_files": NO_SIGNAL,
    "test_signals_after_the_end_of_the_run_change_nothing": NO_SIGNAL,
    "test_a_signal_ends_the_run_and_leaves_no_temporary_file": NO_SIGNAL,
    "test_a_signal_leaves_no_temporary_of_any_kind": NO_SIGNAL,
    "test_signals_at_random_moments_leave_the_old_or_the_new_file": NO_SIGNAL,
    "test_an_ignored_signal_stays_ignored": "Windows cannot block signals",
    "test_input_and_output_can_be_fifos": NO_FIFO,
    "test_bad_rows_are_reported_while_the_stream_is_open": f"{NO_FIFO}; a test below uses a pipe",
    "test_a_limit_of_the_address_space_is_an_error": "Windows has no limits of a process",
    "test_a_terminal_shows_a_coloured_table": "Windows has no pseudo-terminals of this kind",
}
"""Tests that do not run on Windows, and why."""

for _module in (test_contract_bad_input, test_damage, test_interruption, test_process):
    for _name, _test in vars(_module).items():
        if _name.startswith("test_") and _name not in LEFT_OUT:
            assert _name not in globals(), _name
            globals()[_name] = _test


def test_the_tests_that_are_left_out_exist():
    modules = (test_contract_bad_input, test_damage, test_interruption, test_process)
    assert set(LEFT_OUT) <= {name for module in modules for name in vars(module)}


def test_ctrl_c_at_the_start_of_the_program_ends_it(tmp_path):
    test_interruption.test_signals_at_the_start_of_the_program_end_it(signal.SIGINT, tmp_path)


@pytest.mark.parametrize("moment", ["before", "after", "report"])
def test_ctrl_c_around_the_rename_reports_the_written_files(moment, folder):  # noqa: F811  the fixture
    test_interruption.test_signals_around_the_rename_report_the_written_files(signal.SIGINT, moment, folder)


def test_ctrl_c_ends_the_run_and_leaves_no_temporary_file(single, large_file, tmp_path):
    test_process.test_a_signal_ends_the_run_and_leaves_no_temporary_file(
        single, large_file, tmp_path, signal.SIGINT, 130
    )


def test_bad_rows_are_reported_while_a_pipe_is_open(single, tmp_path):
    test_process.test_bad_rows_are_reported_while_the_stream_is_open(
        single, tmp_path, ["apply", "{}", "-", "-o", "o.csv"], "pipe"
    )
