"""Limits that control groups set to the process: its own group's, and those of all groups above it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_ROOT, _MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def group_folders(controller: str) -> Iterator[Path]:
    """Yield the folders of a controller, from the own group upwards; of both versions of control groups.

    In a container, the path of the own group may be that of the host. Its folders are then missing here, and
    the mounted root is that of the container.
    """
    with suppress(OSError, ValueError):
        for line in _MEMBERSHIP.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or controller in controllers.split(","):
                root = _ROOT / controller if controllers else _ROOT
                own = root / path.strip("/")
                yield from (own, *own.parents[: len(own.parts) - len(root.parts)])


def numbers_in(*files: Path) -> tuple[int, ...] | None:
    """Return the whole numbers that files hold; None if one is missing or states no limit."""
    with suppress(OSError, ValueError):
        return tuple(int(text) for file in files for text in file.read_text().split())
    return None
