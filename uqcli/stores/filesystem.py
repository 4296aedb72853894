"""pyarrow filesystems for object stores, configured by the usual environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.errors import DataError, MissingExtraError
from uqcli.stores import limits
from uqcli.stores.address import Address
from uqcli.stores.failures import store_errors

if TYPE_CHECKING:
    import pyarrow.fs as pf

_ANY_REGION: Final = "us-east-1"
_READ_FROM_ENVIRONMENT: Final = ("AWS_", "AZURE_", "GOOGLE_", "CLOUD_STORAGE_")


def filesystem_of(address: Address) -> pf.FileSystem:
    """Create the filesystem of an address.

    S3: credentials, profile and region as the SDK finds them (``AWS_ACCESS_KEY_ID``, ``AWS_PROFILE``,
    ``AWS_REGION``, instance roles). ``AWS_ENDPOINT_URL_S3`` or ``AWS_ENDPOINT_URL`` name another
    S3-compatible store, with path-style buckets. Google: application default credentials. Azure:
    ``AZURE_STORAGE_ACCOUNT`` with ``AZURE_STORAGE_KEY`` or ``AZURE_STORAGE_SAS_TOKEN``, or its default
    credentials.

    Raises
    ------
    MissingExtraError
        The installed pyarrow lacks this filesystem.
    DataError
        The store refuses access.
    """
    environment = tuple(
        sorted(variable for variable in os.environ.items() if variable[0].startswith(_READ_FROM_ENVIRONMENT))
    )
    request_limits = (limits.CONNECT_SECONDS, limits.REQUEST_SECONDS, limits.ATTEMPTS)
    region = _region(address)
    return _filesystem(address.scheme, region, environment, request_limits)


@cache
def _filesystem(scheme: str, region: str | None, *_: object) -> pf.FileSystem:
    """Create a filesystem, cached by environment variables and limits."""
    name, options = _KINDS[scheme]
    kind = _class(name, scheme)
    try:
        with store_errors(f"{scheme}://", "open"):
            return kind(**options(region))
    except TypeError as error:  # an option of a later pyarrow version
        raise _lacking(f"{name} in full", scheme) from error


def _class(name: str, scheme: str) -> Any:
    import pyarrow.fs as pf

    try:
        return getattr(pf, name)
    except (AttributeError, ImportError) as error:
        raise _lacking(name, scheme) from error


def _lacking(name: str, scheme: str) -> MissingExtraError:
    return MissingExtraError(
        f"this pyarrow has no {name}, which reads {scheme}://",
        remedy="pip install --upgrade pyarrow, or copy the files to this machine",
    )


def _region(address: Address) -> str | None:
    """Look up the region of an S3 bucket; None if the environment names one or the store needs none."""
    settings = ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    return None if address.scheme != "s3" or any(map(os.environ.get, settings)) else _found_region(address)


@cache
def _found_region(address: Address) -> str | None:
    _class("S3FileSystem", address.scheme)
    import pyarrow.fs as pf

    with store_errors(str(address)):
        return str(pf.resolve_s3_region(address.bucket))


def _s3(region: str | None) -> dict[str, Any]:
    import pyarrow.fs as pf

    options: dict[str, Any] = {
        "connect_timeout": limits.CONNECT_SECONDS,
        "request_timeout": limits.REQUEST_SECONDS,
        "retry_strategy": pf.AwsStandardS3RetryStrategy(max_attempts=limits.ATTEMPTS),
        "background_writes": False,  # otherwise unsent data accumulates in memory
        "allow_delayed_open": True,  # small objects take a single request
    }
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and not region and not os.environ.get("AWS_PROFILE"):
        region = _ANY_REGION  # other stores accept any region, and the SDK would look it up on the network
    if region:
        options["region"] = region
    if endpoint:
        scheme, separator, host = endpoint.rpartition("://")
        options["scheme"] = scheme if separator else "https"
        options["endpoint_override"] = host.rstrip("/")
    return options


def settings_of(address: Address) -> dict[str, str]:
    """Return the same settings for obstore, which reads the others from the environment itself."""
    if address.scheme == "s3":
        options = _s3(_region(address))
        endpoint = options.get("endpoint_override")
        region = options.get("region", _ANY_REGION)
        return {"region": region} | ({"endpoint": f"{options['scheme']}://{endpoint}"} if endpoint else {})
    return {"account_name": _az(None)["account_name"]} if address.scheme == "az" else {}


def _gs(_: str | None) -> dict[str, Any]:
    return {"retry_time_limit": timedelta(seconds=limits.REQUEST_SECONDS)}


def _az(_: str | None) -> dict[str, Any]:
    account = os.environ.get("AZURE_STORAGE_ACCOUNT") or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    if not account:
        raise DataError("az:// needs the name of an account", remedy="set AZURE_STORAGE_ACCOUNT")
    options: dict[str, Any] = {"account_name": account}
    key = os.environ.get("AZURE_STORAGE_KEY") or os.environ.get("AZURE_STORAGE_ACCOUNT_KEY")
    token = os.environ.get("AZURE_STORAGE_SAS_TOKEN")
    if key:
        options["account_key"] = key
    elif token:
        options["sas_token"] = token
    return options


_KINDS: Final[Mapping[str, tuple[str, Callable[[str | None], dict[str, Any]]]]] = MappingProxyType(
    {"s3": ("S3FileSystem", _s3), "gs": ("GcsFileSystem", _gs), "az": ("AzureFileSystem", _az)}
)
