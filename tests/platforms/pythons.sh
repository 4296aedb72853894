#!/usr/bin/env bash
# Runs README's blocks and the tests on each of the given versions of Python that is found. Usage:
# pythons.sh VERSION...; needs uv in PATH, and takes the number of parallel tests from JOBS.
set -euo pipefail
cd "$(dirname "$0")/../.."

find_python() {
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python3; do
        if "$candidate" -c "import sys; sys.exit('$1' != '%d.%d' % sys.version_info[:2])" 2> /dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

for version in "$@"; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        echo "Python $version: not found"
        continue
    fi
    venv=build/pythons/$version
    uv venv --quiet --clear --python "$python" "$venv"
    uv pip install --quiet --compile-bytecode --python "$venv/bin/python" --editable . --group dev
    "$venv/bin/python" -m pytest -p no:xdist tests/platforms/test_readme.py
    "$venv/bin/python" -m pytest -n "${JOBS:-auto}" --dist worksteal
    echo "Python $version: passed"
done
