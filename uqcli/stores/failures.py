"""Errors of stores and their libraries as one-line DataErrors that name the address."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from uqcli.base.errors import DataError
from uqcli.stores import limits

T = TypeVar("T")

_DENIED_PATTERN: Final = (
    r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_CLIENT_TOKEN|EXPIRED_TOKEN|"
    r"InvalidAccessKeyId|ExpiredToken|status 40[13]|UNAUTHENTICATED|PERMISSION_DENIED|Authenti|Authoriz"
)
_PASSING_PATTERN: Final = (
    r"status 5\d\d|INTERNAL_FAILURE|HTTP error: (?:error sending request|request or response body error)"
)
"""Failures that may pass, of requests that only we send again."""
_THROTTLED_PATTERN: Final = (
    r"status (?:429|503)|SLOW_DOWN|THROTTLING|SERVICE_UNAVAILABLE|RESOURCE_EXHAUSTED|flush response stream"
)
"""The last: pyarrow has no room for the text of a refusal that is longer than the bytes that it asked for."""

_PATTERNS: Final = (
    (
        r"169\.254\.169\.254|metadata\.google|Error performing token request",
        "no credentials found in the environment, and the machine has no role",
        "set them as for the store's own tools, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    (_DENIED_PATTERN, "access is denied", "check the credentials ({places}), what they may do, and the name"),
    (r"NO_SUCH_BUCKET|ContainerNotFound|bucket does not exist", "there is no such bucket", "check the name"),
    (
        r"status 411",
        "the store takes no write without a length",
        "set AWS_REQUEST_CHECKSUM_CALCULATION=when_required, as servers other than Amazon's may need",
    ),
    (
        _THROTTLED_PATTERN,
        "the store is busy, and was asked again for {patience:g} seconds",
        "try again later, or ask for fewer requests with larger objects",
    ),
    (r"status 30[1278]|redirect without LOCATION", "the bucket is in another region", "set AWS_REGION"),
    (
        r"Timeout was reached|too slow|timed out|DEADLINE_EXCEEDED|REQUEST_TIMEOUT",
        "no answer within {seconds:g} seconds",
        "check the network and the endpoint",
    ),
    (
        r"NETWORK_CONNECTION|curlCode|sending request|body error|UNAVAILABLE: |Could ?n.?t resolve|"
        r"fail to connect",
        "the connection failed or was cut",
        "check the network and the endpoint",
    ),
    (r"status 5\d\d|INTERNAL_FAILURE|INTERNAL: ", "the store reports an internal error", "try again later"),
)
"""Pattern of an error, its name in messages, and the remedy."""

_STORE_ERROR: Final = re.compile(
    r"AWS Error|google::cloud|GCS|Azure|curlCode|Error performing|Generic \w+ error"
)


def store_failure(
    name: str, error: BaseException, doing: str = "read", *, has_profiles: bool = True
) -> DataError | None:
    """Convert an error to a DataError if a store caused it; None if the content may be the cause.

    The credentials of pyarrow may be in profiles, those of obstore may not.
    """
    if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) == errno.ENOENT:
        return no_object(name, doing)
    text = _text(error)
    if not _STORE_ERROR.search(text):
        return None
    for pattern, reason, remedy in _PATTERNS:
        if re.search(pattern, text):
            message = reason.format(seconds=limits.REQUEST_SECONDS, patience=sum(limits.THROTTLED_SECONDS))
            known = _known(text)
            message = f"cannot {doing} '{name}': {message}" + (f" ({known})" if known else "")
            if pattern is _DENIED_PATTERN and name.lower().startswith("s3://"):
                message += _missing_credentials(has_profiles=has_profiles)
            places = "environment or profile" if has_profiles else "environment or role, no profile"
            return DataError(message, remedy=remedy.format(places=places))
    return DataError(f"cannot {doing} '{name}': {_detail(text)}", remedy="check the address")


def _text(error: BaseException) -> str:
    """Return the text of an error, in the words of pyarrow; obstore names a timeout only to programmers."""
    text, _, debugged = str(error).partition("Debug source:")
    cause = " timed out" if "kind: Timeout" in debugged else ""
    return " ".join(text.split()).replace("status code: ", "status ") + cause


_PROFILES: Final = "~/.aws"
_CREDENTIALS: Final = (
    *("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)
_PROFILE_FILES: Final = {"AWS_SHARED_CREDENTIALS_FILE": "credentials", "AWS_CONFIG_FILE": "config"}


def _missing_credentials(*, has_profiles: bool) -> str:
    """Say that no credentials of S3 are where they are looked for; the machine may have a role beside."""
    if any(map(os.environ.get, _CREDENTIALS)):
        return ""
    if not has_profiles:
        return "; no credentials found in the environment"
    profiles = Path(os.path.expanduser(_PROFILES))  # noqa: PTH111  Path would fail without a home
    files = (Path(os.environ.get(name) or profiles / file) for name, file in _PROFILE_FILES.items())
    is_there = any(file.is_file() for file in files)
    return "" if is_there else f"; no credentials found in the environment or in '{_PROFILES}'"


class Patience:
    """The waits of a request that the store throttles, beside the short ones of pyarrow."""

    def __init__(self) -> None:
        self._waits = iter(limits.THROTTLED_SECONDS)

    def wait(self, error: BaseException) -> None:
        """Wait before the request is sent again; raise the error if it is another, or waits are used up."""
        seconds = next(self._waits, None) if re.search(_THROTTLED_PATTERN, _text(error)) else None
        if seconds is None:
            raise error
        time.sleep(seconds)


class Waits(Patience):
    """The waits of a request of a library that sends none again by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._attempts = 1

    def wait(self, error: BaseException) -> None:
        """Wait also after other failures that may pass, but fewer times."""
        text = _text(error)
        may_pass = re.search(_PASSING_PATTERN, text) is not None
        if may_pass and not re.search(_THROTTLED_PATTERN, text):
            self._attempts += 1
            if self._attempts > limits.ATTEMPTS:
                raise error
            time.sleep(limits.THROTTLED_SECONDS[0])
            return
        super().wait(error)


def patiently(request: Callable[[], T]) -> T:
    """Send a request again as long as the store throttles it."""
    patience = Patience()
    while True:
        try:
            return request()
        except OSError as error:
            patience.wait(error)


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
    """Extract the HTTP status and the store's code; the rest of the message may hold keys and signatures."""
    return _known(text) or "an error that has no name"


def _known(text: str) -> str:
    """Return the status and the code, empty if there are none."""
    if "flush response stream" in text:
        return "an answer without a name"
    name, code, status = (_found(pattern, text) for pattern in (_SDK_NAME, _OWN_CODE, _STATUS))
    if name in _STATUS_OF:
        code = _NAMES.get(name) or name.title().replace("_", "")
        status = status or str(_STATUS_OF[name])
    known = " ".join(part for part in (f"HTTP {status}" if status else "", code) if part)
    match = None if known else _ERROR_CODE.search(text)
    return known or (match[0] if match else "")


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


_SDK_NAME: Final = re.compile(r"AWS Error ([A-Z_]+)")
_NAMES: Final = {"INTERNAL_FAILURE": "InternalError"}
_OWN_CODE: Final = re.compile(r"(?:Unable to parse ExceptionName: |<Code>)(\w+)")
_STATUS: Final = re.compile(r"status (\d{3})")
_STATUS_OF: Final = {
    **dict.fromkeys(("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH"), 403),
    **dict.fromkeys(("REQUEST_TIME_TOO_SKEWED", "INVALID_OBJECT_STATE"), 403),
    **dict.fromkeys(("NO_SUCH_BUCKET", "NO_SUCH_KEY", "NO_SUCH_UPLOAD"), 404),
    **dict.fromkeys(("SLOW_DOWN", "SERVICE_UNAVAILABLE"), 503),
    "INTERNAL_FAILURE": 500,
}
"""HTTP statuses of S3's codes, by the names that the SDK gives them, with which it drops the status."""


_ERROR_CODE: Final = re.compile(
    r"AWS Error [A-Z_]+|HTTP(?: status)? \d{3}|status \d{3}|curlCode: \d+|(?<![A-Z])[A-Z]+(?:_[A-Z]+)+"
)
"""Names of store errors."""
