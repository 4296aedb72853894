"""JSON Schemas of the rule files, derived from their structs and shipped as files."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import FORMAT_VERSION


def schema_text(kind: ArtifactKind) -> str:
    """Read the shipped JSON Schema of a kind."""
    return (files("uqcli.rules") / "schema_files" / f"{kind}.schema.json").read_text("utf-8")


def derived_schema(kind: ArtifactKind) -> dict[str, Any]:
    """Derive the JSON Schema from the struct of a kind; ``make schemas`` writes it to its file."""
    from inspect import cleandoc

    import msgspec

    from uqcli.rules.codec import model_of  # printing a shipped schema does not import the structs

    model = model_of(kind)
    (reference,), components = msgspec.json.schema_components([model])
    definitions = {name: {**body, "additionalProperties": True} for name, body in components.items()}
    for body in definitions.values():
        if "description" in body:  # indented as in the source before Python 3.13
            body["description"] = cleandoc(body["description"])
    properties = definitions[reference["$ref"].rpartition("/")[2]]["properties"]
    del properties["seal"], definitions["Seal"]  # never saved
    versions = list(range(FORMAT_VERSION, model.newest_format + 1))
    allowed = {"enum": versions} if len(versions) > 1 else {"const": FORMAT_VERSION}
    properties |= {"kind": {"const": str(kind)}, "format_version": allowed}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"uqcli {kind} artifact, format version {' or '.join(map(str, versions))}",
        "$ref": reference["$ref"],
        "$defs": definitions,
    }


def write_schemas() -> None:
    """Write every schema to its file in the package."""
    for kind in ArtifactKind:
        path = files("uqcli.rules") / "schema_files" / f"{kind}.schema.json"
        with open(str(path), "w", encoding="utf-8") as stream:  # noqa: PTH123  a Traversable, not a Path
            stream.write(json.dumps(derived_schema(kind), indent=2) + "\n")
