"""Artifacts to JSON and back: strict, readable, the same bytes for the same model."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from uqcli.artifacts.registry import model_of
from uqcli.artifacts.saved import Saved
from uqcli.choices import ArtifactKind
from uqcli.defaults import FORMAT_VERSION
from uqcli.errors import ArtifactError, DataError
from uqcli.files import is_stdin, stdin_bytes
from uqcli.stores.output import read_bytes


def encode(artifact: Saved) -> bytes:
    """Write an artifact as strict JSON, one top-level key a line; what cannot be read again is refused.

    Raises
    ------
    DataError
        A number is not finite, or the parts contradict each other: the rows led to what is no model.
    """
    try:
        content = encode_object(msgspec.to_builtins(artifact))
        _checked(content, artifact.kind)
    except ValueError as error:  # of json, of msgspec, or a contradiction
        raise DataError(
            f"these rows do not give a {artifact.kind} that could be used: {error}",
            expected="finite numbers of a usual size",
            remedy="check the columns and their scale; nothing was written",
        ) from error
    return content


def encode_object(content: dict[str, Any]) -> bytes:
    """Write a JSON object with one top-level key a line; NaN and infinity are refused."""
    lines = (
        f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False, ensure_ascii=False)}"
        for key, value in content.items()
    )
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8", "backslashreplace")


def load(name: str) -> Saved:
    """Read an artifact from a file, from an address, or from standard input if the name is ``-``.

    Raises
    ------
    DataError
        The file or object is missing or cannot be read.
    ArtifactError
        It is not an artifact, or of a newer format.
    """
    try:
        content = stdin_bytes().read() if is_stdin(name) else read_bytes(name)
    except OSError as error:
        raise DataError(
            f"cannot read artifact '{name}': {error.strerror}", expected="an existing file"
        ) from error
    return decode(content, name)


Kind = TypeVar("Kind", bound=Saved)


def load_kind(name: str, model: type[Kind]) -> Kind:
    """Read an artifact of one kind (see load).

    Raises
    ------
    ArtifactError
        Also: it is of another kind.
    """
    artifact = load(name)
    if not isinstance(artifact, model):
        wanted = next(kind for kind in ArtifactKind if model_of(kind) is model)
        raise ArtifactError(f"'{name}' is a {artifact.kind} artifact", expected=f"a {wanted} artifact")
    return artifact


def decode(content: bytes, name: str) -> Saved:
    """Read an artifact from JSON.

    Parameters
    ----------
    content
        The bytes of the file.
    name
        As it appears in messages.

    Raises
    ------
    ArtifactError
        Not JSON, not an artifact, of a newer format, or inconsistent.
    """
    kind = _kind_of(content, name)
    try:
        return _checked(content, kind)
    except msgspec.ValidationError as error:
        raise ArtifactError(
            f"'{name}' is not a valid {kind} artifact: {error}", remedy="make it again"
        ) from error
    except _ContradictionError as error:
        raise ArtifactError(f"'{name}' is inconsistent: {error}", remedy="make it again") from error


class _ContradictionError(ValueError):
    """Parts that do not fit together."""


def _checked(content: bytes, kind: ArtifactKind) -> Saved:
    """The artifact of some JSON, if a schema and what it cannot say allow it."""
    artifact = msgspec.json.decode(content, type=model_of(kind))
    contradiction = artifact.contradiction()
    if contradiction is not None:
        raise _ContradictionError(contradiction)
    return artifact


def _kind_of(content: bytes, name: str) -> ArtifactKind:
    try:
        header = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(
            f"'{name}' is not JSON ({error})", expected="an artifact written by uqcli"
        ) from error
    if not isinstance(header, dict) or "kind" not in header or "format_version" not in header:
        raise ArtifactError(
            f"'{name}' is JSON but no uqcli artifact", expected="keys kind and format_version"
        )
    version = header["format_version"]
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise ArtifactError(
            f"'{name}' has format version {version}",
            expected=f"at most {FORMAT_VERSION}",
            remedy="upgrade uqcli",
        )
    if header["kind"] not in list(ArtifactKind):
        known = ", ".join(ArtifactKind)
        raise ArtifactError(f"'{name}' is of unknown kind {header['kind']!r}", expected=f"one of: {known}")
    return ArtifactKind(header["kind"])
