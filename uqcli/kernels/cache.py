"""Cache of machine code: in which directory, read only if whole, and never needed."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from uqcli.base.operating_system import user_caches, user_id

_DIGEST_BYTES: Final = 32


def kept_code(directory: Path | None, name: str) -> bytes | None:
    """Read machine code; None if there is none, or a damaged one."""
    if directory is None:
        return None
    try:
        content = (directory / name).read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return code if digest == hashlib.sha256(code).digest() else None


def keep_code(directory: Path | None, name: str, code: bytes) -> None:
    """Write machine code for later processes, or leave it: a full disk is no error."""
    if directory is None:
        return
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=directory, prefix=name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(temporary).replace(directory / name)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def cache_directory(folder: Path) -> Path | None:
    """Choose the directory of machine code, and make it; None if none is trusted.

    It is only read from an absolute directory that we own and nobody else may write. Candidates:
    NUMBA_CACHE_DIR if set, else the folder of Python's own bytecode cache, else one in the home directory.
    """
    directory = os.environ.get("NUMBA_CACHE_DIR")
    if directory:
        return Path(directory) if _is_ours(Path(directory)) else None
    if user_id() is not None and _is_ours(folder) and os.access(folder, os.W_OK):
        return folder
    user_cache = user_caches() / "uqcli" / "kernels"
    return user_cache if _is_ours(user_cache) else None


def _is_ours(directory: Path) -> bool:
    """Whether a directory is absolute, exists (or was created here), and only we may write or replace it."""
    if not directory.is_absolute():
        return False
    user, others_may_write = user_id(), stat.S_IWGRP | stat.S_IWOTH
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner_and_mode = directory.stat()
        above = [parent.stat() for parent in directory.resolve().parents]
    except OSError:
        return False
    if user is None:
        return True
    is_private = owner_and_mode.st_uid == user and not owner_and_mode.st_mode & others_may_write
    return is_private and all(
        status.st_uid in (0, user)
        and (not status.st_mode & others_may_write or status.st_mode & stat.S_ISVTX)
        for status in above
    )
