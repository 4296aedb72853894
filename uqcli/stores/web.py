"""Single files of web servers: read once, from their beginning to their end, as a pipe is."""

from __future__ import annotations

import http.client
import io
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from uqcli.errors import DataError
from uqcli.stores import limits
from uqcli.stores.address import shown_address


@dataclass(frozen=True, kw_only=True)
class WebFile:
    """A file of a web server.

    Attributes
    ----------
    url
        With what only the server should see: a query may hold a signature.
    """

    url: str = field(repr=False)
    regular: bool = False

    @property
    def name(self) -> str:
        """The address without query, user and password, as messages call it."""
        return shown_address(self.url)

    @property
    def base(self) -> str:
        """The last part of its path."""
        return self._path[-1]

    @property
    def folders(self) -> tuple[str, ...]:
        """The parts of its path before the last."""
        return self._path[:-1]

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(unquote(part) for part in urlsplit(self.url).path.split("/"))

    def size(self) -> int | None:
        """Not known without an answer."""
        return None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Ask for it.

        Raises
        ------
        DataError
            The server cannot be reached or refuses, or its answer is cut off.
        """
        with _web_errors(self.name):
            answer = _opener().open(self.url)
        with answer, io.BufferedReader(_Answer(answer, self.name), 1 << 20) as stream:
            yield cast(BinaryIO, stream)


class _Answer(io.RawIOBase):
    """The body of an answer; it must be as long as its header said."""

    def __init__(self, answer: http.client.HTTPResponse, name: str) -> None:
        self._answer = answer
        self._name = name
        length = answer.headers.get("Content-Length")
        self._expected = int(length) if length and length.isdigit() else None
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Some bytes; none at the end."""
        with _web_errors(self._name):
            size = self._answer.readinto(buffer)
        self._read += size
        if not size and self._expected is not None and self._read < self._expected:
            raise DataError(
                f"cannot read '{self._name}': the answer ends after {self._read} bytes",
                expected=f"{self._expected} bytes",
                remedy="check the network, and try again",
            )
        return size


@contextmanager
def _web_errors(name: str) -> Iterator[None]:
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(
            f"cannot read '{name}': the server answers {error.code} {error.reason}".rstrip(),
            expected="200",
            remedy="check the address",
        ) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DataError(
            f"cannot read '{name}': {_reason(error)}", remedy="check the address and the network"
        ) from error


def _reason(error: Exception) -> str:
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, TimeoutError):
        return f"no answer within {limits.REQUEST_SECONDS:g} seconds"
    if isinstance(inner, http.client.IncompleteRead):
        return "the answer is cut off"
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__


class _Connection(http.client.HTTPConnection):
    """A connection that is awaited for a shorter time than an answer."""

    def connect(self) -> None:
        """Connect."""
        self.timeout = limits.CONNECT_SECONDS
        super().connect()
        self.sock.settimeout(limits.REQUEST_SECONDS)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    """The same, encrypted."""


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Connection, req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_SecureConnection, req)


def _opener() -> urllib.request.OpenerDirector:
    """With proxies as the environment names them; nothing but the web is opened, whatever a server says."""
    opener = urllib.request.build_opener(_Handler, _SecureHandler)
    opener.addheaders = [("User-Agent", "uqcli"), ("Accept-Encoding", "identity")]
    return opener
