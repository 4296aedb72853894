"""Makes the page of the rule files: the fields of each kind, and its JSON Schema."""

import json

from uqcli.base.choices import ArtifactKind
from uqcli.rules.codec import model_of
from uqcli.rules.schemas import schema_text

HEAD = """# Rule files

`-o` saves a rule as one JSON object. `uqcli show` describes it, and `uqcli show --schema KIND` prints its
schema. uqcli ignores unknown fields and refuses a newer `format_version` (exit 5). A value v is in bin number
#{edges <= v}, counted from 0: an edge belongs to the bin above it. `make reference` writes this page.
"""


def artifacts_page():
    """Describe all kinds of rule files."""
    return "\n".join([HEAD, *(_kind(kind) for kind in ArtifactKind)])


def _kind(kind):
    schema = json.loads(schema_text(kind))
    struct = schema["$defs"][model_of(kind).__name__]
    lines = [
        f"## {kind}",
        "",
        _paragraphs(struct["description"]),
        "",
        "| field | type | always there |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {_type(field, schema['$defs'])} | {'yes' if name in struct['required'] else ''} |"
        for name, field in struct["properties"].items()
    ]
    lines += [
        "",
        "<details><summary>JSON Schema</summary>",
        "",
        "```json",
        schema_text(kind).strip(),
        "```",
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


def _paragraphs(text):
    return "\n".join(line.strip() for line in text.splitlines())


def _type(field, definitions):
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        definition = definitions[name]
        choices = ", ".join(f"`{choice}`" for choice in definition.get("enum", []))
        description = _paragraphs(definition.get("description", name)).split("\n")[0]
        return f"{description} {choices}".strip().replace("|", "\\|")
    if "anyOf" in field:
        types = [_type(option, definitions) for option in field["anyOf"]]
        between = "; or " if any(type_text.endswith(".") for type_text in types) else " or "
        return between.join(type_text.removesuffix(".") for type_text in types)
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}), definitions)}"
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{choice}`" for choice in field["enum"])
    return field.get("type", "any")
