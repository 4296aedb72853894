"""README's blocks run on this system, with the programs of this interpreter."""

import os
import shutil
import sysconfig

import pytest

from tests.documentation.pages import README, ROOT, chains, run

BLOCKS = [chain for chain in chains() if chain[0].name.startswith(README.name)]


@pytest.mark.parametrize("chain", BLOCKS, ids=lambda chain: chain[0].name)
def test_blocks_of_the_readme_run(chain, tmp_path):
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    programs = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    for block in chain:
        run(block, tmp_path, variables=os.environ.items(), path=programs)
