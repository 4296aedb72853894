"""Prose is plain: standard terms and short sentences, in the pages and in what the program says.

The other rules are in CONTRIBUTING.md, "Plain words"; the terms are in docs/reference/glossary.md.
"""

import ast
import inspect
import re
from functools import partial
from pathlib import Path

import pytest

from tests.documentation import reference
from tests.documentation.reference import DOCS, README, ROOT

MOST_WORDS = 25

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
"""Words that are out, by what to say instead."""

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
"""Terms that pages used for one in the glossary; JSON keys and options in code spans keep them."""

GENERATED = {*map(reference.place_of, reference.PAGES), *(DOCS / "results").iterdir()}
"""Made from the program and from reproduction/, where their words are."""

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


def put(shown, match):
    """What to read in place of a match, on as many lines."""
    return (new := match.expand(shown)) + "\n" * (match[0].count("\n") - new.count("\n"))


def sentences(text):
    """Number of the line and words of each sentence; list items and cells of tables are their own.

    A code span is one word, C; blocks of code, addresses of links and emphasis are left out.
    """
    for pattern, shown in HIDDEN:
        text = re.sub(pattern, partial(put, shown), text, flags=re.S | re.M)
    blocks, block, item, depth = [], None, False, 0
    for number, line in enumerate(text.splitlines()):
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        begins = ITEM.match(bare)
        if ALONE.match(bare) or begins or block is None or (indent != depth and not item):
            blocks += [(number, cell) for cell in re.split(r"(?<!\\)\|", bare)]
            block, item, depth = (None if ALONE.match(bare) else True), bool(begins), indent
        else:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]}\n{bare}")
    for first, said in blocks:
        start = 0
        for stop in [*(match.end() for match in END.finditer(said)), len(said)]:
            words = [word for word in said[start:stop].split() if re.search(r"\w", word)]
            if words:
                yield first + said[:start].count("\n"), " ".join(words)
            start = stop


def literals(path):
    """The same of the strings of a module, those with a space in them; a placeholder is one word, N."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        text = node.value if isinstance(node, ast.Constant) and node not in parts else ""
        if isinstance(node, ast.JoinedStr):
            parts |= set(node.values)
            text = "".join(each.value if isinstance(each, ast.Constant) else "N" for each in node.values)
        if isinstance(text, str) and " " in text:
            yield from ((node.lineno + line, said) for line, said in sentences(inspect.cleandoc(text)))


def faults(said, banned):
    """What is wrong with a sentence."""
    found = [f"say {better}: {m[0]}" for word, better in banned.items() if (m := re.search(word, said, re.I))]
    length = len(said.split())
    return [*found, f"{length} words, at most {MOST_WORDS}"] if length > MOST_WORDS else found


@pytest.mark.parametrize("path", [*PAGES, *MODULES], ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_is_plain(path: Path):
    page = path.suffix == ".md"
    found = sentences(path.read_text()) if page else literals(path)
    wrong = [
        f"{path.relative_to(ROOT)}:{line + page}: {'; '.join(what)}\n    {said}"
        for line, said in found
        if (what := faults(said, {**BANNED, **OLD_TERMS} if page else BANNED))
    ]
    assert not wrong, "\n" + "\n".join(wrong)
