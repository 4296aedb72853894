"""When a process is taken to hang."""

from typing import Final

HANGS_AFTER: Final = 900
"""Seconds of the clock: no bound on the speed, as a busy machine takes ten times as long as a quiet one."""
