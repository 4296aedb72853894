"""Tests of the site: its build and its pages request no other host."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.reference import DOCS


@pytest.mark.thorough
def test_the_site_builds_without_warnings_and_requests_no_other_host(tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs")
    (tmp_path / "docs" / "zensical.toml").rename(tmp_path / "zensical.toml")
    build = [str(Path(sys.executable).parent / "zensical"), "build", "--strict"]
    process = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    pages = {
        path.relative_to(tmp_path / "site").with_suffix(".md") for path in tmp_path.rglob("site/**/*.html")
    }
    assert pages >= {path.relative_to(DOCS) for path in DOCS.rglob("*.md")}
    for page in tmp_path.rglob("site/**/*.html"):
        text = page.read_text()
        requested = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=[\"']?(https?:[^\"' >]*)", text
        )
        assert not requested, page
