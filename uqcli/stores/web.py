"""Single files of web servers, read once and sequentially, like a pipe."""

from __future__ import annotations

import http
import http.client
import io
import os
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from types import MappingProxyType
from typing import Any, BinaryIO, Final, cast
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.stores import limits
from uqcli.stores.address import is_web, refuse_user, safe_address
from uqcli.stores.content import UnboundedStream
from uqcli.stores.view import Entry


class WebTree:
    """Files of web servers, by name only: there are no listings."""

    def entry(self, name: str) -> Entry | None:
        """Assume that the file exists; only reading it shows whether it does."""
        return Entry(name=name, basename=WebFile(url=name).basename, is_folder=False, is_file=True)

    def identity(self, folder: Entry) -> Hashable:
        """Return the address."""
        return folder.name

    def inside(self, folder: Entry) -> list[Entry]:
        """Return nothing: no listing exists."""
        del folder
        return []

    def above(self, entry: Entry) -> None:
        """Return nothing: folders of a web server are unknown."""
        del entry

    def prefetch(self, folders: Iterable[Entry]) -> None:
        """Do nothing."""

    def matches(self, pattern: str) -> list[Entry]:
        """Return nothing: pattern characters are part of a web address."""
        del pattern
        return []

    def content(self, name: str) -> WebFile:
        """Find the file of an address."""
        return WebFile(url=name)


@dataclass(frozen=True, kw_only=True)
class WebFile:
    """A file of a web server.

    Attributes
    ----------
    url
        Complete address; its query may contain a signature.
    """

    url: str = field(repr=False)
    regular: bool = False

    @property
    def name(self) -> str:
        """Address without query, user and password, for messages."""
        return safe_address(self.url)

    @property
    def basename(self) -> str:
        """Last part of the path."""
        return self._path[-1]

    @property
    def folders(self) -> tuple[str, ...]:
        """Parts of the path before the last."""
        return self._path[:-1]

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(unquote(part) for part in urlsplit(self.url).path.split("/"))

    def identity(self) -> Hashable:
        """Return the complete address."""
        return self.url

    def size(self) -> int | None:
        """Return None: unknown before the response."""
        return None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Request it.

        Raises
        ------
        DataError
            The server cannot be reached or refuses, or the response is truncated.
        """
        refuse_user(self.url)
        with _web_errors(self.name):
            response = _opener().open(_ascii(self.url), timeout=limits.REQUEST_SECONDS)
        with response:
            if response.status != http.HTTPStatus.OK:  # partial content, for example
                raise _refused(self.name, response.status)
            with _web_errors(self.name):
                length = _length_of(response)
            is_known = length is not None or response.chunked
            kind = io.BufferedReader if is_known else UnboundedStream
            with kind(_ResponseBody(response, self.name, length), 1 << 20) as stream:
                yield cast(BinaryIO, stream)


def _length_of(response: http.client.HTTPResponse) -> int | None:
    """Return the length of a body that the headers state; None if they do not."""
    stated = [
        length.strip()
        for text in response.headers.get_all("Content-Length") or ()
        for length in text.split(",")
    ]
    if any(not re.fullmatch(r"[0-9]{1,18}", length) for length in stated):
        raise _LengthError
    lengths = set(map(int, stated))
    if len(lengths) > 1:
        raise _LengthError
    return lengths.pop() if lengths else None


class _ResponseBody(io.RawIOBase):
    """Response body; its length must be the one stated, if one is."""

    def __init__(self, response: http.client.HTTPResponse, name: str, length: int | None) -> None:
        self._response = response
        self._name = name
        self._expected = length
        self._bytes_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes; none at the end."""
        with _web_errors(self._name):
            piece = self._response.read1(len(buffer))  # no more than has arrived
        size = len(piece)
        buffer[:size] = piece
        self._bytes_read += size
        if not size and self._expected is not None and self._bytes_read != self._expected:
            raise DataError(
                f"cannot read '{self._name}': the answer ends after {self._bytes_read} bytes",
                expected=f"{self._expected} bytes",
                remedy="check the network, and try again",
            )
        return size


class _RedirectSchemeError(ValueError):
    """A redirection to a scheme other than http(s)."""


class _InsecureError(ValueError):
    """A redirection from https to http."""


class _TooManyRedirectionsError(ValueError):
    """A redirection after as many as are followed."""


class _LengthError(ValueError):
    """A length that is no number, or several that differ."""


class _SlowAnswerError(ValueError):
    """An answer that takes too long, though a byte arrives now and then."""


class _TimedReader(io.RawIOBase):
    """Bytes of an answer, as long as all of them together did not take too long to arrive."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._waited = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        """Read some bytes; none at the end."""
        start = time.monotonic()
        size = self._raw.readinto(buffer)
        self._waited += time.monotonic() - start
        if self._waited > limits.ANSWER_SECONDS:
            raise _SlowAnswerError
        return size

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """Answer whose headers and body together do not take too long to arrive."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach()))


class _Connection(http.client.HTTPConnection):
    response_class = _TimedResponse


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _TimedResponse


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        """Open a connection."""
        return self.do_open(_Connection, req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        """Open a connection, and verify the server's certificate."""
        return self.do_open(_SecureConnection, req)


@contextmanager
def _web_errors(name: str) -> Iterator[None]:
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise _refused(name, error.code) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DataError(
            f"cannot read '{name}': {_reason(error)}", remedy="check the address and the network"
        ) from error


def _refused(name: str, code: int) -> DataError:
    """Create the error for a status other than 200; the server's own message may contain anything."""
    phrase = http.HTTPStatus(code).phrase if code in http.HTTPStatus._value2member_map_ else ""
    return DataError(
        f"cannot read '{name}': the server answered {code} {phrase}".rstrip(),
        expected="200",
        remedy="check the address",
    )


def _reason(error: Exception) -> str:
    """Describe an error without the library's message, which may repeat addresses with secrets."""
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    for kind, sentence in _REASONS.items():
        if isinstance(inner, kind):
            return sentence.format(
                seconds=limits.REQUEST_SECONDS, all=limits.ANSWER_SECONDS, most=limits.MAX_REDIRECTIONS
            )
    error_number = getattr(inner, "errno", None)
    return (
        os.strerror(error_number) if isinstance(error_number, int) and error_number > 0 else "no valid answer"
    )


_REASONS: Final[Mapping[type[BaseException], str]] = MappingProxyType(
    {
        TimeoutError: "no answer within {seconds:g} seconds",
        http.client.IncompleteRead: "the answer is cut off",
        http.client.RemoteDisconnected: "the server closed the connection",
        http.client.InvalidURL: "this is no valid address",
        socket.gaierror: "there is no such host",
        ssl.SSLCertVerificationError: "its certificate cannot be verified",
        ssl.SSLError: "no secure connection",
        _InsecureError: "it leads from https to http, which anybody on the way can change",
        _TooManyRedirectionsError: "it leads on more than {most} times",
        _LengthError: "it states no single length",
        _SlowAnswerError: "it did not answer in full within {all:g} seconds",
        _RedirectSchemeError: "it leads to a place that is not on the web",
    }
)


def _ascii(url: str) -> str:
    """Percent-encode the non-ASCII characters of path and query as UTF-8."""
    parts = urlsplit(url)
    path, query = (quote(text, safe=_SAFE_CHARACTERS) for text in (parts.path, parts.query))
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))


_SAFE_CHARACTERS: Final = "%/:=&?~#+!$,;'@()*[]"
"""Characters that are not encoded, including existing escapes."""


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Some redirections within http(s), of which none is less secure."""

    max_redirections = limits.MAX_REDIRECTIONS

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        """Refuse other schemes before urllib does, since its message repeats the target."""
        target = urljoin(req.full_url, headers.get("location") or headers.get("uri") or "")
        before = getattr(req, "redirect_dict", {})
        is_less_secure = req.full_url.lower().startswith("https:") and not target.lower().startswith("https:")
        for is_refused, error in (
            (not is_web(target), _RedirectSchemeError),
            (is_less_secure, _InsecureError),
            (len(before) >= limits.MAX_REDIRECTIONS or target in before, _TooManyRedirectionsError),
        ):
            if is_refused:
                fp.close()
                raise error
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _opener() -> urllib.request.OpenerDirector:
    """Return the opener for http(s) only, with the proxies of the environment."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _Handler(),
        _SecureHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirections(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", "uqcli"), ("Accept-Encoding", "identity")]
    return opener
