"""A test of plain prose: standard terms, in pages, docstrings and messages.

The other rules are in CONTRIBUTING.md, "Plain words"; the terms are in docs/reference/glossary.md.
"""

import ast
import inspect
import re
from functools import partial

from tests.documentation import reference
from tests.documentation.reference import DOCS, README, ROOT

BANNED = {
    r"\b(?:hold|holds|held|holding)(?:\s+\S+){0,4}?\s+against\b": "compared with, tested on",
    r"\bchance (?:may |does |alone )?explains?\b": "not significant",
    r"\bmore than chance\b": "significant",
    r"\b(?:speak|speaks|spoke|speaking) (?:for|against)\b": "reject, contradict, support",
    r"\bof its making\b": "of the run",
    r"\bwhoever\b": "anyone who",
    r"\bsurely\b": "significantly, or the interval: its upper end is below",
    r"\bplacebos?\b": "permutation test",
    r", too(?=\s*(?:[.,;:!?)]|$))": "also, before the verb",
}
"""Banned words, with their replacements."""

OLD_TERMS = {
    r"\bhold-outs?\b|\brows held out\b": "calibration set; cross-validated",
    r"\bcross-fit\w*|\bout of fold\b": "cross-validated",
    r"\bclass mix(?:es)?\b|\bclass shares\b": "class priors",
    r"\bpositivity\b|\bshare of positives\b": "positive rate",
    r"\bconformal sets?\b|\bsets? of classes\b": "prediction set",
    r"\bpromis\w+": "target, guarantee",
    r"\bgates?\b": "check",
    r"\bartifacts?\b|\bmodel files?\b": "rule, rule file",
}
"""Old terms, with those of the glossary; JSON keys and options in code spans keep the old ones."""

GENERATED = {*map(reference.path_of, reference.PAGES), *(DOCS / "results").iterdir()}
"""Pages made from uqcli and from reproduction/, whose sources contain the words."""

PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(set(DOCS.rglob("*.md")) - GENERATED)]
MODULES = sorted((ROOT / "uqcli").rglob("*.py"))

HIDDEN = [
    (r"^( *)```.*?^ *```$|<!--.*?-->|\*\*|</?\w+>|\x08$", ""),
    (r"``?(?:(?!\n\n)[^`])+``?", "C"),
    (r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1"),
]
ITEM = re.compile(r"(?:[-*]|\d+\.)\s+")
ALONE = re.compile(r"#|\||-{3,}|={3,}|<|$")
END = re.compile(r"(?<!\bal)(?<!e\.g)(?<!i\.e)[.!?][\")]*\s+(?=[^\sa-z]|uqcli)")


def replacement(template, match):
    """Return the replacement of a match, with as many lines."""
    return (text := match.expand(template)) + "\n" * (match[0].count("\n") - text.count("\n"))


def sentences(text):
    """Yield the line number and the words of each sentence; list items and table cells are separate.

    A code span counts as one word, C. Blocks of code, link addresses and emphasis are removed.
    """
    for pattern, template in HIDDEN:
        text = re.sub(pattern, partial(replacement, template), text, flags=re.S | re.M)
    blocks, block, is_item, depth = [], None, False, 0
    for line_number, line in enumerate(text.splitlines()):
        stripped, indent = line.strip(), len(line) - len(line.lstrip())
        starts_item = ITEM.match(stripped)
        if ALONE.match(stripped) or starts_item or block is None or (indent != depth and not is_item):
            blocks += [(line_number, cell) for cell in re.split(r"(?<!\\)\|", stripped)]
            block, is_item, depth = (None if ALONE.match(stripped) else True), bool(starts_item), indent
        else:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]}\n{stripped}")
    for first_line, prose in blocks:
        start = 0
        for stop in [*(match.end() for match in END.finditer(prose)), len(prose)]:
            words = [word for word in prose[start:stop].split() if re.search(r"\w", word)]
            if words:
                yield first_line + prose[:start].count("\n"), " ".join(words)
            start = stop


def literals(path):
    """Yield the sentences of the strings of a module that contain a space; a placeholder is one word, N."""
    nested = set()
    for node in ast.walk(ast.parse(path.read_text())):
        text = node.value if isinstance(node, ast.Constant) and node not in nested else ""
        if isinstance(node, ast.JoinedStr):
            nested |= set(node.values)
            text = "".join(piece.value if isinstance(piece, ast.Constant) else "N" for piece in node.values)
        if isinstance(text, str) and " " in text:
            yield from (
                (node.lineno + line, sentence) for line, sentence in sentences(inspect.cleandoc(text))
            )


def faults(path):
    """Describe each sentence of a page or module that has banned words."""
    is_page = path.suffix == ".md"
    prose = sentences(path.read_text()) if is_page else literals(path)
    banned = {**BANNED, **OLD_TERMS} if is_page else BANNED
    for line, sentence in prose:
        for word, better in banned.items():
            if match := re.search(word, sentence, re.IGNORECASE):
                place = f"{path.relative_to(ROOT)}:{line + is_page}"
                yield f"{place}: say {better}: {match[0]}\n    {sentence}"


def test_prose_is_plain():
    found = [fault for path in (*PAGES, *MODULES) for fault in faults(path)]
    assert not found, "\n" + "\n".join(found)
