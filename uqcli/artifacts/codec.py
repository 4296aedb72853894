"""Artifacts to JSON and back: strict, readable, the same bytes for the same model."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final, TypeVar

import msgspec

from uqcli.artifacts.registry import model_of
from uqcli.artifacts.saved import Saved, Seal
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
        content = encode_object(content_of(artifact))
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


def digest_of(content: dict[str, Any]) -> str:
    """SHA-256 of an artifact's content without its digest, in hexadecimal digits.

    The order of keys, white space and the spelling of numbers do not matter: other programs change them.
    """
    text = json.dumps(_plain(_rest(content)), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _rest(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ("digest", "seal")}


def _plain(value: Any) -> Any:
    """The same with whole numbers as integers."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def content_of(artifact: Saved) -> dict[str, Any]:
    """What is written of an artifact: all it says, and the digest of that."""
    rest = _rest(msgspec.to_builtins(artifact))
    return {**rest, "digest": digest_of(rest)}


def load_unedited(name: str) -> Saved:
    """Read an artifact that is put to use (see load).

    Raises
    ------
    ArtifactError
        Also: it was edited after it was written.
    """
    artifact = load(name)
    if artifact.seal is Seal.EDITED:
        raise ArtifactError(
            f"'{name}' was edited after it was written",
            expected="the content that its digest is of",
            remedy="make it again, or take out its key digest: then it promises nothing",
        )
    return artifact


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
    """Read an unedited artifact of one kind (see load_unedited).

    Raises
    ------
    ArtifactError
        Also: it is of another kind.
    """
    artifact = load_unedited(name)
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
    header = _header(content, name)
    kind = _kind_of(header, name)
    try:
        return msgspec.structs.replace(_checked(content, kind), digest=msgspec.UNSET, seal=_seal(header))
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


def _seal(header: dict[str, Any]) -> Seal | msgspec.UnsetType:
    """What is wrong with a digest; versions up to 0.2 wrote none."""
    stated = header.get("digest")
    if stated is not None:
        return msgspec.UNSET if stated == digest_of(header) else Seal.EDITED
    numbers = re.match(r"(\d+)\.(\d+)", str(header.get("uqcli_version")))
    old = numbers is not None and (int(numbers[1]), int(numbers[2])) <= _LAST_WITHOUT
    return msgspec.UNSET if old else Seal.MISSING


_LAST_WITHOUT: Final = (0, 2)


def _header(content: bytes, name: str) -> Any:
    """Strict JSON, in which no key stands twice: programs differ in which of two they take."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [each for each, _ in pairs]
            twice = next(each for each in names if names.count(each) > 1)
            raise ValueError(f"the key '{twice}' stands in it twice")
        return found

    try:
        msgspec.json.decode(content)
        return json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:  # of msgspec, of text that is no UTF-8, or ours
        raise ArtifactError(
            f"'{name}' is not JSON ({error})", expected="an artifact written by uqcli"
        ) from error


def _kind_of(header: Any, name: str) -> ArtifactKind:
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
