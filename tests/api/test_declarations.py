"""Tests that each option of a command is declared once."""

import inspect
from dataclasses import fields, is_dataclass

import pytest

from uqcli.cli.config import COMMANDS
from uqcli.jobs.declared import function_of


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_of_a_command_is_declared_twice(command):
    function = function_of(command)
    groups = [
        hint for hint in inspect.get_annotations(function, eval_str=True).values() if is_dataclass(hint)
    ]
    names = [option.name for group in groups for option in fields(group) if option.metadata]
    assert sorted(names) == sorted(set(names))
