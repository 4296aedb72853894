"""Makes the summaries of the commands that ``uqcli -h`` prints; ``make reference`` writes them."""

import inspect

from uqcli.cli.config import COMMANDS
from uqcli.jobs.declared import function_of

HEAD = '''"""What each command does, from the functions of commands; ``make reference`` writes this file."""

SUMMARIES = {
'''


def summaries():
    """Return the module."""
    lines = [
        f"    {_quoted(name)}: {_quoted(inspect.cleandoc(function_of(name).__doc__).splitlines()[0])},\n"
        for name in COMMANDS
    ]
    return "".join([HEAD, *lines, "}\n"])


def _quoted(text):
    assert '"' not in text
    assert "\\" not in text
    return f'"{text}"'
