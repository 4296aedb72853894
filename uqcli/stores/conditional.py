"""State in an object store: read with its version, and written only if that is still the version there.

pyarrow cannot write on a condition; obstore can, in S3 by ``If-Match`` and ``If-None-Match``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from uqcli.base.errors import DataError, MissingExtraError
from uqcli.base.files import AtOnce
from uqcli.base.records import dataclass
from uqcli.base.running.interruption import changing, replacing
from uqcli.stores import limits
from uqcli.stores.address import Address
from uqcli.stores.failures import Waits, store_failure
from uqcli.stores.filesystem import settings_of

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")


class ReplacedError(DataError):
    """Another run has written the state since this one read it."""


class StoredState:
    """An object that is read, and then written once if nobody has written it in between."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._address = Address.parse(name)
        self._version: dict[str, Any] | None = None
        self._was_repeated = False  # the last request
        self._store = self._asked("open", self._opened)

    def read(self) -> bytes | None:
        """Return the content, and remember its version; None if there is no object yet.

        Raises
        ------
        DataError
            The store cannot be reached, or refuses it.
        """
        import obstore

        def get() -> bytes | None:
            try:
                answer = obstore.get(self._store, self._key)
            except FileNotFoundError:
                self._version = None
                return None
            stated = {"e_tag": answer.meta["e_tag"], "version": answer.meta["version"]}
            self._version = {name: text for name, text in stated.items() if text is not None}
            return bytes(answer.bytes())

        return self._asked("read", get)

    def write(self, content: bytes) -> None:
        """Write the content if the object is the one that was read.

        If the store refuses, and the object has this content, then the write was our own only if it was sent
        more than once, since an answer may have been lost. Otherwise another run has counted the same rows.

        Raises
        ------
        ReplacedError
            It is not.
        DataError
            The store cannot be reached, or refuses it.
        """
        import obstore

        mode: Any = "create" if self._version is None else self._version
        try:
            with changing, replacing(self.name):
                self._asked("write", lambda: obstore.put(self._store, self._key, content, mode=mode))
        except ReplacedError:
            if not self._was_repeated or self.read() != content:
                raise

    @property
    def _key(self) -> str:
        return self._address.path.partition("/")[2]

    def _opened(self) -> ObjectStore:
        try:
            from obstore.store import from_url
        except ImportError as error:
            raise MissingExtraError(
                f"the state '{self.name}' needs obstore, which writes on conditions",
                expected="the extra 'cloud'",
                remedy='pip install "uqcli[cloud]"',
            ) from error
        options: Any = {
            "client_options": {
                "allow_http": True,
                "connect_timeout": timedelta(seconds=limits.CONNECT_SECONDS),
                "timeout": timedelta(seconds=limits.REQUEST_SECONDS),
            },
            "retry_config": {"max_retries": 0, "retry_timeout": timedelta(0)},  # see _repeated
            **settings_of(self._address),
        }
        return from_url(f"{self._address.scheme}://{self._address.bucket}", **options)

    def _asked(self, doing: str, request: Callable[[], T]) -> T:
        """Send a request, and convert the errors of obstore to a DataError that names the state."""
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        try:
            return self._repeated(request)
        except (AlreadyExistsError, PreconditionError) as error:
            raise ReplacedError(
                f"the state '{self.name}' was written by other runs {limits.STATE_ATTEMPTS} times "
                "while this one counted",
                expected="one run at a time",
                remedy="run it again later",
            ) from error
        except (BaseError, OSError, ValueError) as error:
            raise store_failure(self.name, error, doing, has_profiles=False) or DataError(
                f"cannot {doing} '{self.name}': {type(error).__name__}", remedy="check the address"
            ) from error

    def _repeated(self, request: Callable[[], T]) -> T:
        """Send a request again after failures that may pass.

        obstore could do so too, but then nobody would know whether a write had been sent before.
        """
        from obstore.exceptions import BaseError

        waits, self._was_repeated = Waits(), False
        while True:
            try:
                return request()
            except BaseError as error:
                waits.wait(error)
                self._was_repeated = True


_held: Final[ContextVar[StoredState | None]] = ContextVar("held", default=None)
"""State that this run has read, and whose name is written on a condition."""


@contextmanager
def held(name: str) -> Iterator[bytes | None]:
    """Yield the content of a state, None for none; until the block ends, it is written on a condition."""
    state = StoredState(name)
    content = state.read()
    token = _held.set(state)
    try:
        yield content
    finally:
        _held.reset(token)


def is_held(name: str) -> bool:
    """Whether a name is that of a state that was read."""
    state = _held.get()
    return state is not None and state.name == name


@contextmanager
def open_held(queue: AtOnce) -> Iterator[io.BytesIO]:
    """Open the state for writing, at once or at the commit of the queue; it needs no room on a disk."""
    state, stream = _held.get(), io.BytesIO()
    assert state is not None  # see is_held
    yield stream
    queue.add(_Written(state=state, content=stream.getvalue()))


@dataclass(frozen=True, kw_only=True)
class _Written:
    """A state that is complete but not yet in place."""

    state: StoredState
    content: bytes

    def move_into_place(self) -> None:
        """Write it."""
        self.state.write(self.content)

    def remove(self) -> None:
        """Forget it."""
