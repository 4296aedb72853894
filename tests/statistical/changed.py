"""List the simulations of the code that differs from a commit: ``make statistical CHANGED=REF``."""

import ast
import subprocess
import sys
from pathlib import Path

import grimp

import uqcli

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


def main():
    """Print the test files to run for the changes since a commit."""
    command = ["git", "diff", "--name-only", sys.argv[1], "--", "uqcli", "tests/statistical"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    print(*sorted(str(path.relative_to(ROOT)) for path in simulations_of(output.split())))


def simulations_of(changed: list[str]) -> list[Path]:
    """Return the simulations that a change of files touches, by what they import.

    Names of the package itself, such as ``uqcli.find_boundary``, stand for the modules that they come from:
    importing it all would make every simulation one of every change.
    """
    graph = grimp.build_graph("uqcli", exclude_type_checking_imports=True)
    names = {_module(path) for path in changed}
    found = []
    for test in sorted(FOLDER.glob("test_*.py")):
        modules = _imported(test, set())
        used = modules.union(*(graph.find_upstream_modules(module) for module in modules & graph.modules))
        if used & names:
            found.append(test)
    return found


def _module(path):
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _imported(path, seen):
    """Return the modules that a file imports, and those of the suite's own files that it imports."""
    tree = ast.parse(path.read_text())
    found = {_module(str(path.relative_to(ROOT)))}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith(("uqcli", "tests.")):
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "uqcli"
        ):
            found.add(getattr(uqcli, node.attr).__module__)
    for module in sorted(found - seen):
        file = ROOT / (module.replace(".", "/") + ".py")
        if module.startswith("tests.") and file.exists() and file != path:
            found |= _imported(file, seen | found)
    return found - {"uqcli"}


if __name__ == "__main__":
    main()
