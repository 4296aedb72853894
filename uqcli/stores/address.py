"""Addresses of object stores and web servers, as opposed to file names."""

from __future__ import annotations

from typing import Final

from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.wording import without_secrets

_STORES: Final = ("s3", "gs", "az")
_WEB: Final = ("http", "https")
KNOWN_LOCATIONS: Final = "s3://, gs://, az://, https:// or the name of a file"


def _scheme(name: str) -> str:
    scheme, mark, _ = name.partition("://")
    return scheme.lower() if mark else ""


def is_stored(name: str) -> bool:
    """Whether a name is the address of an object, a folder or a pattern in a store.

    Examples
    --------
    >>> is_stored("s3://bucket/day=*/"), is_stored("https://example.org/a.csv"), is_stored("a.csv")
    (True, False, False)
    """
    return _scheme(name) in _STORES


def is_web(name: str) -> bool:
    """Whether a name is a web address."""
    return _scheme(name) in _WEB


def safe_address(name: str) -> str:
    """Remove user, password and query from an address; only the server should see them.

    Examples
    --------
    >>> safe_address("https://me:secret@example.org/a.csv?signature=1"), safe_address("a.csv?b")
    ('https://example.org/a.csv', 'a.csv?b')
    """
    return without_secrets(name) if is_address(name) else name


def refuse_user(name: str) -> None:
    """Refuse a user or a password in an address, since the process list shows it.

    Raises
    ------
    DataError
        The address contains one of them.
    """
    if "@" in name.partition("://")[2].partition("/")[0]:
        raise DataError(
            f"the address '{name}' contains a user or a password",
            expected="an address without them",
            remedy="set credentials as for the store's own tools, or give a signed address",
        )


def is_address(name: str) -> bool:
    """Whether a name is an address instead of a file name."""
    return is_stored(name) or is_web(name)


def is_foreign(name: str) -> bool:
    """Whether a name looks like an address of an unknown scheme; a file may still have this name.

    Examples
    --------
    >>> is_foreign("hdfs://host/a.csv"), is_foreign("s3://bucket/a.csv"), is_foreign("a.csv")
    (True, False, False)
    """
    return bool(_scheme(name)) and not is_address(name)


@dataclass(frozen=True, kw_only=True)
class Address:
    """An address in a store.

    Attributes
    ----------
    scheme
        ``s3``, ``gs`` or ``az``.
    path
        Bucket (or container) and key, without slashes at the ends.
    is_folder
        Whether it ends with a slash, or names a bucket.
    """

    scheme: str
    path: str
    is_folder: bool = False

    @classmethod
    def parse(cls, name: str) -> Address:
        """Parse an address.

        Raises
        ------
        DataError
            It names no bucket, the bucket is a pattern, or a part is empty.

        Examples
        --------
        >>> str(Address.parse("S3://bucket/scores/"))
        's3://bucket/scores'
        """
        refuse_user(name)
        scheme, _, location = name.partition("://")
        parts = location.removesuffix("/").split("/")
        if "" in parts:
            raise DataError(f"address '{name}' has an empty part", expected=f"{scheme}://bucket/folder/name")
        if any(sign in parts[0] for sign in "*?["):
            raise DataError(f"address '{name}' has a pattern in its bucket", expected="the bucket's name")
        folder = location.endswith("/") or len(parts) == 1
        return cls(scheme=scheme.lower(), path="/".join(parts), is_folder=folder)

    @property
    def bucket(self) -> str:
        """Bucket or container."""
        return self.path.partition("/")[0]

    @property
    def basename(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folders(self) -> tuple[str, ...]:
        """Parts of the path before the last."""
        return tuple(self.path.split("/")[:-1])

    def beside(self, basename: str) -> Address:
        """Return another address in the same folder."""
        return Address(scheme=self.scheme, path="/".join((*self.folders, basename)))

    def with_path(self, path: str) -> Address:
        """Return another address in the same store."""
        return Address(scheme=self.scheme, path=path)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}"
