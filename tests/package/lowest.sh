#!/usr/bin/env bash
# Runs the tests of a source distribution outside the checkout, with the lowest versions of all
# dependencies. Usage: lowest.sh SDIST [options of pytest]; needs uv.
set -euo pipefail
sdist=$(realpath "$1")
shift
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -xzf "$sdist" -C "$place" --strip-components 1
cd "$place"

uv pip compile --quiet --no-deps --resolution lowest-direct --all-extras pyproject.toml --output-file lowest.txt
uv venv --quiet --python "${PYTHON:-python3}" .venv
uv pip install --quiet --constraints lowest.txt --group dev --editable .
sed -n '/^[a-z]/p' lowest.txt | paste -sd ' '
.venv/bin/pytest -n auto "$@"
