"""Makes the page of the rule files: the fields of each kind, and the objects in them."""

import json
import re

from uqcli.base.choices import ArtifactKind
from uqcli.rules.codec import model_of
from uqcli.rules.schemas import schema_text

HEAD = """# Rule files

`-o` saves a rule as one JSON object. `uqcli show` describes it, and `uqcli show --schema KIND` prints its
JSON Schema. uqcli ignores unknown fields and refuses a newer `format_version` (exit 5). A value v is in bin
number #{edges <= v}, counted from 0: an edge belongs to the bin above it. Fields marked with `*` are always
there. `make reference` writes this page.
"""

SHARED = "These fields are in rule files of every kind:"

OBJECTS = """## Objects in the fields

Each line names an object of the tables above, says what it means, and lists its fields or the texts that it
can be. A field without a type is a number.
"""

WORDS = {"number": "", "integer": "", "string": "text", "boolean": "true or false"}


def artifacts_page():
    """Describe all kinds of rule files, the fields that all have and each object once."""
    schemas = {kind: json.loads(schema_text(kind))["$defs"] for kind in ArtifactKind}
    structs = {kind: definitions.pop(model_of(kind).__name__) for kind, definitions in schemas.items()}
    shared = [
        name for name in structs[ArtifactKind.GRID]["properties"] if all(map(_has(name), structs.values()))
    ]
    own = [name for name in shared if name not in ("kind", "format_version", "parameters")]
    parts = [HEAD, SHARED, "", *_table(structs[ArtifactKind.GRID], own), ""]
    for kind, struct in structs.items():
        fields = [name for name in struct["properties"] if name not in own]
        parts += [f"## {kind}", "", _paragraphs(struct["description"]), "", *_table(struct, fields), ""]
    objects = {name: item for definitions in schemas.values() for name, item in definitions.items()}
    del objects["ArtifactKind"]
    return "\n".join([*parts, OBJECTS, *(_object(name, item) for name, item in objects.items()), ""])


def _has(name):
    return lambda struct: name in struct["properties"]


def _table(struct, names):
    rows = [
        f"| `{name}`{'*' * (name in struct['required'])} | {_type(struct['properties'][name]) or 'number'} |"
        for name in names
    ]
    return ["| field | type |", "|---|---|", *rows]


def _object(name, item):
    text, _, attributes = item.get("description", "").partition("Attributes\n----------\n")
    description = " ".join([*text.split(), *_attributes(attributes)])
    if "enum" in item:
        return f"- `{name}`: {description} {_choices(item['enum'])}"
    fields = [
        " ".join(part for part in (f"`{field}`", _type(kind)) if part)
        for field, kind in item["properties"].items()
    ]
    return f"- `{name}`: {description} Fields: {', '.join(fields)}."


def _attributes(text):
    """Return the words about each field that a docstring lists with its meaning below."""
    words = []
    for line in text.splitlines():
        is_name = not line.startswith(" ")
        words += [f"`{name}`," for name in line.split(", ")] if is_name else line.split()
        if is_name:
            words[-1] = words[-1].replace(",", ":")
    return words


def _choices(texts):
    return ", ".join(f"`{text}`" for text in texts)


def _paragraphs(text):
    return "\n".join(line.strip() for line in text.splitlines())


def _type(field):
    """Say the type of a field; a number has no word, since most fields are numbers."""
    if "$ref" in field:
        return f"`{field['$ref'].rsplit('/', 1)[-1]}`"
    if "anyOf" in field:
        return " or ".join(_type(option) or "number" for option in field["anyOf"])
    if field.get("type") == "array":
        return f"list of {_plural(_type(field.get('items', {})))}"
    if isinstance(field.get("additionalProperties"), dict):
        return f"object of {_plural(_type(field['additionalProperties']))}"
    if "const" in field or "enum" in field:
        return " or ".join(f"`{choice}`" for choice in field.get("enum", [field.get("const")]))
    return WORDS.get(field.get("type"), field.get("type", "any"))


def _plural(kind):
    return re.sub(r"\b(number|text|list|null)\b(?! or `)", r"\1s", kind or "number")
