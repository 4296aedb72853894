"""Figures of simulations that pages quote: ``make levels`` records them, and writes them into the pages.

``quoted_levels.toml`` lists the fragments of each page that have such figures, as templates. A field
``{NAME:FORMAT}`` is a number that the statistical suite keeps by this name (``tests.statistical.levels``).
``{max NAME:...}``, ``min`` and ``mean`` are of all names that a pattern such as ``watch/level/*`` matches,
and ``{runs NAME:,}`` is the least number of their repetitions. A format that ends with ``%`` writes a
percentage with a space before its sign, and one with ``p`` leaves the sign out.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from statistics import mean

from tests.documentation.reference import DOCS
from tests.statistical.levels import FOUND

RECORD = DOCS / "levels.json"
_FUNCTIONS = {None: min, "min": min, "max": max, "mean": mean, "runs": min}
_FIELD = re.compile(r"\{(?:(max|min|mean|runs) )?([^{}:]+):([^{}]*)\}")


@dataclass(frozen=True)
class Quotes:
    """What a page says of simulations.

    Parameters
    ----------
    quoted
        Templates of fragments with figures.
    rough
        Fragments that say in words what lies between ``low`` and ``high``, by a ``field``.
    other
        Fragments of paragraphs, items or tables whose figures have another source, with the ``reason``.
    """

    quoted: tuple[str, ...] = ()
    rough: tuple[dict, ...] = ()
    other: tuple[dict, ...] = ()


def quotes():
    """Return what each page quotes, by its path in docs/."""
    listed = tomllib.loads(Path(__file__).with_name("quoted_levels.toml").read_text())
    return {page: Quotes(**{key: tuple(rows) for key, rows in one.items()}) for page, one in listed.items()}


def recorded():
    """Return the recorded numbers and their repetitions by name."""
    return json.loads(RECORD.read_text())


def measured():
    """Return what packages of others gave on the same rows, by name, with their versions."""
    return json.loads((DOCS / "peers.json").read_text())


def rendered(template, levels):
    """Return the text of a template."""
    return _FIELD.sub(lambda field: _formatted(_value(levels, field[1], field[2]), field[3]), template)


def names_in(one):
    """Return the patterns of the names that a page quotes."""
    texts = [*one.quoted, *(rough["field"] for rough in one.rough)]
    return [name for text in texts for _, name, _ in _FIELD.findall(text)]


def updated(page, template, levels):
    """Return a page whose figures in a fragment are those of the record; it must have the fragment once."""
    text = rendered(template, levels)
    assert len(re.findall(pattern(template), page)) == 1, f"once in the page, with some figures: {template}"
    return re.sub(pattern(template), partial(_with_breaks_of, text), page)


def pattern(template):
    """Return a pattern of a template with any figures, whatever its line breaks."""
    parts, end = [], 0
    for field in _FIELD.finditer(template):
        figure = r"[-+]?[\d.,]*\d" + (r"\s%" if field[3].endswith("%") else "")
        figure = figure if field[3] else r"[^|;,]+?"  # a field without a format is a text
        parts += [_any_breaks(template[end : field.start()]), figure]
        end = field.end()
    return "".join([*parts, _any_breaks(template[end:])])


def words(text):
    """Return a text with one blank between words."""
    return " ".join(text.split())


def _value(levels, function, name):
    found = [level for key, level in levels.items() if fnmatchcase(key, name)]
    assert found, f"no simulation keeps {name}"
    assert function or len(found) == 1, f"{name} names {len(found)} figures"
    return _FUNCTIONS[function]([level["runs" if function == "runs" else "value"] for level in found])


def _formatted(value, form):
    if form[-1:] not in ("%", "p"):
        return format(value, form)
    return format(value, form[:-1] + "%").removesuffix("%") + (" %" if form[-1] == "%" else "")


def _any_breaks(text):
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _with_breaks_of(text, match):
    """Return a text with the line breaks of what it replaces, which has as many words."""
    breaks = [*re.findall(r"\s+", match[0]), ""]
    return "".join(map("".join, zip(text.split(), breaks, strict=True)))


def record():
    """Add the numbers that simulations kept to the record, and write the record into the pages."""
    levels = recorded() if RECORD.exists() else {}
    for path in FOUND.rglob("*.json"):
        levels[str(path.relative_to(FOUND).with_suffix(""))] = json.loads(path.read_text())
    lines = (f"{json.dumps(name)}: {json.dumps(levels[name])}" for name in sorted(levels))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    for page, one in quotes().items():
        text = (DOCS / page).read_text()
        for template in one.quoted:
            text = updated(text, template, levels | measured())
        (DOCS / page).write_text(text)


if __name__ == "__main__":
    record()
