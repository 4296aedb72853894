"""Tests that every block of code in README and docs is run somewhere."""

import re

from tests.documentation.pages import BLOCKS, PAGES, blocks_needing
from tests.documentation.reference import DOCS

RUN_BY = {
    "": "make blocks",
    "before": "make blocks",
    "duckdb": "make blocks-elsewhere",
    "postgres": "make blocks-elsewhere",
    "xgboost": "make blocks",
    "store": "tests/cloud",
    "torch": "make blocks-elsewhere",
    "dvc": "make blocks-elsewhere",
    "zsh": "make blocks-elsewhere",
    "fish": "make blocks-elsewhere",
}
GENERATED = DOCS / "reference"
"""Its examples are those of ``--help`` and of docstrings, which have their own tests."""


def test_every_block_is_run_by_some_test():
    for path in PAGES:
        if GENERATED in path.parents:
            continue
        unmarked = re.sub(r"^<!-- run(: [a-z]+)? -->\n```.*?^```$", "", path.read_text(), flags=re.M | re.S)
        assert not re.findall(r"^```(?:sh|python|pycon|<!--)", unmarked, flags=re.M), path
        assert not re.findall(r"^<!-- run", unmarked, flags=re.M), path
    assert {block.needs for block in BLOCKS} == set(RUN_BY)
    assert {block.name.rpartition("-")[0] for block in blocks_needing("")} >= {
        "README.md",
        "docs/tutorial.md",
        "docs/index.md",
    }
