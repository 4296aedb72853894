"""Errors of stores and their libraries as one-line DataErrors that name the address."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from uqcli.base.errors import DataError
from uqcli.stores import limits

_DENIED_PATTERN: Final = (
    r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_CLIENT_TOKEN|EXPIRED_TOKEN|"
    r"InvalidAccessKeyId|ExpiredToken|status 40[13]|UNAUTHENTICATED|PERMISSION_DENIED|Authenti|Authoriz"
)
_PATTERNS: Final = (
    (
        _DENIED_PATTERN,
        "access is denied",
        "check the credentials (environment or profile), what they may do, and the name",
    ),
    (r"NO_SUCH_BUCKET|ContainerNotFound|bucket does not exist", "there is no such bucket", "check the name"),
    (r"status 30[1278]", "the bucket is in another region", "set AWS_REGION"),
    (
        r"Timeout was reached|too slow|timed out|DEADLINE_EXCEEDED|REQUEST_TIMEOUT",
        "no answer within {seconds:g} seconds",
        "check the network and the endpoint",
    ),
    (
        r"NETWORK_CONNECTION|curlCode|UNAVAILABLE: |Could ?n.?t resolve|fail to connect",
        "the connection failed or was cut",
        "check the network and the endpoint",
    ),
    (
        r"status 5\d\d|SLOW_DOWN|SERVICE_UNAVAILABLE|INTERNAL_FAILURE|INTERNAL: ",
        "the store reports an internal error",
        "try again later",
    ),
)
"""Pattern of an error, its name in messages, and the remedy."""

_STORE_ERROR: Final = re.compile(r"AWS Error|google::cloud|GCS|Azure|curlCode")


def store_failure(name: str, error: BaseException, doing: str = "read") -> DataError | None:
    """Convert an error to a DataError if a store caused it; None if the content may be the cause."""
    if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) == errno.ENOENT:
        return no_object(name, doing)
    text = " ".join(str(error).split())
    if not _STORE_ERROR.search(text):
        return None
    for pattern, reason, remedy in _PATTERNS:
        if re.search(pattern, text):
            message = reason.format(seconds=limits.REQUEST_SECONDS)
            return DataError(f"cannot {doing} '{name}': {message} ({_detail(text)})", remedy=remedy)
    return DataError(f"cannot {doing} '{name}': {_detail(text)}", remedy="check the address")


def is_denied(error: BaseException) -> bool:
    """Whether a store denies access, as opposed to a failure."""
    return re.search(_DENIED_PATTERN, str(error)) is not None


def no_object(name: str, doing: str = "read") -> DataError:
    """Create the error for an address without an object."""
    return DataError(
        f"cannot {doing} '{name}': there is no such object",
        expected="an existing object or folder",
        remedy="check the address",
    )


def replaced(name: str) -> DataError:
    """Create the error for an object that changed between two requests."""
    return DataError(
        f"'{name}' was replaced while it was read",
        expected="objects that nobody changes during the run",
        remedy="run it again",
    )


def changed(name: str) -> DataError:
    """Create the error for a file that is not the one that was opened before."""
    return DataError(
        f"'{name}' changed while it was read",
        expected="files that nobody changes during the run",
        remedy="run it again",
    )


@contextmanager
def store_errors(name: str, doing: str = "read") -> Iterator[None]:
    """Convert errors of a store's library to a DataError that names the address.

    Wrap only calls to the store, since every error inside is converted.

    Raises
    ------
    DataError
        The store failed.
    """
    try:
        yield
    except (OSError, ValueError) as error:  # includes Arrow's errors
        failure = store_failure(name, error, doing)
        if failure is None:
            detail = _detail(" ".join(str(error).split())) or type(error).__name__
            failure = DataError(f"cannot {doing} '{name}': {detail}", remedy="check the address")
        raise failure from error


def _detail(text: str) -> str:
    """Extract the error's name or number; the rest of the message may contain keys and signatures."""
    match = _ERROR_CODE.search(text)
    return match[0] if match else "an error that has no name"


_ERROR_CODE: Final = re.compile(
    r"AWS Error [A-Z_]+|HTTP(?: status)? \d{3}|status \d{3}|curlCode: \d+|(?<![A-Z])[A-Z]+(?:_[A-Z]+)+"
)
"""Names of store errors."""
