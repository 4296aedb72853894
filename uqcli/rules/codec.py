"""Encode rules as JSON and decode them strictly; equal rules give equal bytes.

Each kind is a module of its subject, with a struct ``<Name>Artifact``. Modules are imported on demand, so
that reading a boundary does not import prediction sets.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import MAX_NAME, MAX_RULE_BYTES
from uqcli.base.errors import ArtifactError, DataError, UqcliError
from uqcli.base.files import InMemory, is_stdin, stdin_bytes
from uqcli.base.operating_system import quote
from uqcli.base.running.messages import repeat_doubts
from uqcli.base.wording import printable
from uqcli.engines.inputs import inferred_format
from uqcli.rules.saved import Saved, Seal, version_of
from uqcli.stores.output import read_bytes

_MODULES: Final[Mapping[ArtifactKind, str]] = MappingProxyType(
    {
        ArtifactKind.GRID: "bin.rule",
        ArtifactKind.BOUNDARY: "boundary.rule",
        ArtifactKind.CALIBRATOR: "calibrate.rule",
        ArtifactKind.CONFORMAL: "conformal.rule",
        ArtifactKind.SHIFT: "shift.rule",
        ArtifactKind.WATCH: "watch.state",
    }
)


def model_of(kind: ArtifactKind) -> type[Saved]:
    """Import the struct of a kind."""
    module = import_module(f"uqcli.{_MODULES[kind]}")
    model: type[Saved] = getattr(module, f"{kind.title()}Artifact")
    return model


def encode(artifact: Saved) -> bytes:
    """Encode a rule as strict JSON, one line per top-level key; refuse what could not be decoded."""
    try:
        fields = content_of(artifact)
        content = encode_object(fields)
        _require_usual_values(fields, artifact.kind)
        if artifact.kind is not ArtifactKind.WATCH and not _is_moderate(content):
            raise _ContradictionError(_TOO_LARGE)
        _checked(content, artifact.kind)
    except ValueError as error:  # from json, msgspec, or a contradiction
        raise DataError(
            f"these rows do not give a {artifact.kind} that could be used: {error}",
            expected="finite numbers of a usual size",
            remedy="check the columns and their scale; nothing was written",
        ) from error
    return content


def encode_object(content: dict[str, Any]) -> bytes:
    """Encode a JSON object, one line per top-level key; NaN and infinity are refused."""
    entries = (
        f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False, ensure_ascii=False)}"
        for key, value in content.items()
    )
    return ("{\n" + ",\n".join(entries) + "\n}\n").encode("utf-8", "backslashreplace")


def digest_of(content: dict[str, Any]) -> str:
    """Compute the SHA-256 of a rule without its digest, as hexadecimal digits.

    It does not depend on key order, white space and number format, which other programs may change.
    """
    text = json.dumps(
        _plain(_without_digest(content)), sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _without_digest(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ("digest", "seal")}


def _is_moderate(content: bytes) -> bool:
    """Whether a rule is small enough to be parsed, in bytes and values: an array takes 30 times its bytes."""
    containers, values = content.count(b"[") + content.count(b"{"), content.count(b",")
    return len(content) <= MAX_RULE_BYTES and containers <= _MAX_CONTAINERS and values <= _MAX_VALUES


_TOO_LARGE: Final = f"more than {MAX_RULE_BYTES >> 20} MB, or millions of values"
_MAX_CONTAINERS, _MAX_VALUES = 1_500_000, 6_000_000
"""Arrays and objects, and values, of a rule; 100,000 groups have a third of the first."""


def _require_usual_values(fields: dict[str, Any], kind: ArtifactKind) -> None:
    """Refuse texts longer than any name, and many numbers whose digests take sixty times their bytes.

    Doubts and conditions of leaves are no names, and states may hold any.
    """
    values: list[Any] = [{name: value for name, value in fields.items() if name != "doubts"}]
    large = 0
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value)
            values.extend(item for key, item in value.items() if key != "rule")
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, float):
            large += abs(value) >= _LARGE
        elif isinstance(value, str) and len(value) > MAX_NAME and kind is not ArtifactKind.WATCH:
            raise _ContradictionError(f"a name of {len(value):,} characters, where {MAX_NAME:,} are allowed")
    if large > _MAX_LARGE:
        raise _ContradictionError(f"{large:,} numbers beyond {_LARGE:.0e}")


_LARGE, _MAX_LARGE = 1e30, 100_000
"""Numbers of many digits, and how many of them a rule may have: some thresholds are the lowest number."""


def _plain(value: Any) -> Any:
    """Convert whole floats to integers, recursively."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def content_of(artifact: Saved) -> dict[str, Any]:
    """Return the content of a rule file: all fields and their digest."""
    content = _without_digest(msgspec.to_builtins(artifact))
    return {**content, "digest": digest_of(content)}


def load_unedited(name: str, kind: ArtifactKind = ArtifactKind.BOUNDARY) -> Saved:
    """Load a rule as ``load`` does, but refuse one that was edited after it was written."""
    artifact = load(name, kind)
    if artifact.seal is Seal.EDITED:
        raise ArtifactError(
            f"'{name}' was edited after it was written",
            expected="contents that match its digest",
            remedy="fit the rule again",
        )
    return artifact


def load(name: str, kind: ArtifactKind = ArtifactKind.BOUNDARY, *, may_be_state: bool = False) -> Saved:
    """Load a rule from a file, an address, or standard input if the name is ``-``.

    Errors advise for the kind that is expected, but any kind is loaded. A file that cannot be read is a
    DataError; one that is no rule, or has a newer format, an ArtifactError. One that ``may_be_state`` of a
    watch may be larger than rules are, if it begins as one.
    """
    if isinstance(name, InMemory) and not isinstance(name.content, bytes):
        raise ArtifactError(
            f"'{name}' holds rows, not a rule", expected="a saved rule: its path, or a result's rule"
        )
    try:
        content = stdin_bytes().read(_READ) if is_stdin(name) else read_bytes(name, _READ)
        is_state = may_be_state and _STATE.match(content) is not None
        if len(content) == _READ and is_state:
            content = content + stdin_bytes().read() if is_stdin(name) else read_bytes(name)
    except OSError as error:
        raise DataError(
            f"cannot read rule file '{name}': {error.strerror}",
            expected="an existing file",
            remedy="check the path",
        ) from error
    if not is_state and not _is_moderate(content):
        raise DataError(
            f"'{name}' has {_TOO_LARGE}", expected="a rule file, as uqcli writes it", remedy="check its name"
        )
    artifact = decode(content, name, kind)
    repeat_doubts(name, artifact.known_doubts)
    return artifact


_READ: Final = MAX_RULE_BYTES + 1
_STATE: Final = re.compile(rb'\s*{\s*"kind"\s*:\s*"watch"')
"""Beginning of a state, which may be larger than a rule."""

Kind = TypeVar("Kind", bound=Saved)


def load_kind(name: str, model: type[Kind]) -> Kind:
    """Load an unedited rule, and refuse one of another kind."""
    kind_of_model = next(kind for kind in ArtifactKind if model_of(kind) is model)
    artifact = load_unedited(name, kind_of_model)
    if not isinstance(artifact, model):
        raise ArtifactError(
            f"'{name}' is a rule file of kind {artifact.kind}",
            expected=f"kind {kind_of_model}",
            remedy=f"make one with uqcli {_COMMANDS[kind_of_model]}",
        )
    return artifact


_COMMANDS: Final = {
    ArtifactKind.GRID: "bin",
    ArtifactKind.BOUNDARY: "boundary",
    ArtifactKind.CALIBRATOR: "calibrate",
    ArtifactKind.CONFORMAL: "conformal",
    ArtifactKind.SHIFT: "shift",
    ArtifactKind.WATCH: "watch",
}
"""Command that makes each kind."""

_NEEDED: Final = {ArtifactKind.BOUNDARY: " --precision 0.9", ArtifactKind.SHIFT: " --target NEW.csv"}
"""What a command needs beside rows to make its kind."""


def decode(content: bytes, name: str, expected: ArtifactKind = ArtifactKind.BOUNDARY) -> Saved:
    """Decode a rule of any kind from JSON; errors advise for the expected one.

    What is not JSON, not a rule, inconsistent, or of a newer format, is an ArtifactError.
    """
    header = _header(content, name, expected)
    kind = _kind_of(header, name)
    try:
        _require_usual_values(header, kind)
        return msgspec.structs.replace(
            _checked(content, kind, f"'{name}'"), digest=msgspec.UNSET, seal=_seal(header)
        )
    except msgspec.ValidationError as error:
        raise ArtifactError(
            f"'{name}' is not a valid rule file of kind {kind}: {error}", remedy="make it again"
        ) from error
    except _ContradictionError as error:
        raise ArtifactError(f"'{name}' is inconsistent: {error}", remedy="make it again") from error
    except (UqcliError, MemoryError):
        raise
    except Exception as error:  # whatever the content does to the code that reads it, it is no valid rule
        raise ArtifactError(
            f"'{name}' is not a valid rule file of kind {kind}: {type(error).__name__}: {error}",
            remedy="make it again",
        ) from error


class _ContradictionError(ValueError):
    """Parts of a rule contradict each other."""


def _checked(content: bytes, kind: ArtifactKind, name: str = "the rule") -> Saved:
    """Decode and validate: by the schema, then for what a schema cannot express."""
    artifact = msgspec.json.decode(content, type=model_of(kind))
    if unread := artifact.unread_keys():
        raise ArtifactError(
            f"{name} has the key '{unread[0]}', of a feature that this uqcli lacks",
            expected="keys of features that it has",
            remedy="use a uqcli with all features, or make the rule without this one",
        )
    contradiction = artifact.contradiction()
    if contradiction:
        raise _ContradictionError(contradiction)
    return artifact


def _seal(header: dict[str, Any]) -> Seal | msgspec.UnsetType:
    """Verify the digest; versions up to 0.2 wrote none."""
    digest = header.get("digest")
    if digest is not None:
        return msgspec.UNSET if digest == digest_of(header) else Seal.EDITED
    version = version_of(header.get("uqcli_version"))
    may_lack_digest = version is not None and version <= _LAST_WITHOUT_DIGEST
    return msgspec.UNSET if may_lack_digest else Seal.MISSING


_LAST_WITHOUT_DIGEST: Final = (0, 2)


def _header(content: bytes, name: str, expected: ArtifactKind) -> Any:
    """Parse strict JSON; duplicate keys are refused, since programs differ in which one they use."""

    def unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(items)
        if len(fields) < len(items):
            ((duplicate, _),) = Counter(name for name, _ in items).most_common(1)
            raise ValueError(f"the key '{printable(duplicate)}' stands in it twice")
        return fields

    try:
        msgspec.json.decode(content)
        return json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:  # from msgspec, from text that is not UTF-8, or ours
        if inferred_format(name).format is not None:
            file = "rule" if expected is ArtifactKind.BOUNDARY else expected
            command = f"uqcli {_COMMANDS[expected]} {quote(name)}{_NEEDED.get(expected, '')} -o {file}.json"
            raise ArtifactError(
                f"'{name}' holds rows, not a rule",
                expected="a rule file written by uqcli",
                remedy=f"make one of them, for example with {command}",
            ) from error
        raise ArtifactError(
            f"'{name}' is not JSON ({error})",
            expected="a rule file written by uqcli",
            remedy="check its name, and that it was written completely",
        ) from error


def _kind_of(header: Any, name: str) -> ArtifactKind:
    if not isinstance(header, dict) or "kind" not in header or "format_version" not in header:
        if isinstance(header, dict) and {"command", "uqcli_version"} <= set(header):
            raise ArtifactError(
                f"'{name}' is a report of uqcli {header['command']}, not a rule",
                expected="a rule file, as -o writes it",
                remedy="run the command again with -o FILE",
            )
        raise ArtifactError(
            f"'{name}' is JSON but not a uqcli rule file",
            expected="keys kind and format_version",
            remedy="check its name",
        )
    if header["kind"] not in list(ArtifactKind):
        kinds = ", ".join(ArtifactKind)
        raise ArtifactError(f"'{name}' is of unknown kind {header['kind']!r}", expected=f"one of: {kinds}")
    kind, version = ArtifactKind(header["kind"]), header["format_version"]
    newest = model_of(kind).newest_format
    if isinstance(version, int) and version > newest:
        raise ArtifactError(
            f"'{name}' has format version {version}", expected=f"at most {newest}", remedy="upgrade uqcli"
        )
    return kind
