"""Command lines in this process, as in the tests of the command line."""

from tests.cli.conftest import _few_draws, _own_limits, uqcli

__all__ = ["_few_draws", "_own_limits", "uqcli"]
