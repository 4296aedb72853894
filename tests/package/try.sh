#!/usr/bin/env bash
# Tries a wheel outside the checkout, in a new environment and an empty folder. Usage: try.sh WHEEL
set -euo pipefail
wheel=$(realpath "$1")
expected=$(basename "$wheel" | cut -d- -f2)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

"${PYTHON:-python3}" -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check "$wheel"
export PATH="$place/venv/bin:$PATH"

[ "$(uqcli --version)" = "uqcli $expected" ]
python -c "import sys, uqcli; assert uqcli.__file__.startswith(sys.prefix), uqcli.__file__"
python -c "import importlib.metadata as m; names = m.packages_distributions(); assert 'tests' not in names, names"

python -c "
import numpy as np
import polars as pl
random = np.random.default_rng(0)
rate = random.beta(1, 3, 20_000)
positives = random.binomial(40, rate)
columns = {'alpha1': positives + 1, 'alpha0': 41 - positives, 'label': random.random(20_000) < rate}
pl.DataFrame(columns).write_parquet('drawn.parquet')
"
uqcli uncertainty drawn.parquet --alpha1 alpha1 --alpha0 alpha0 -q -o scored.parquet
uqcli boundary scored.parquet --precision 0.7 -q -o boundary.json
uqcli show boundary.json | grep -q 'precision >= 70 %'
uqcli apply boundary.json scored.parquet -q -o decided.csv
head -n 1 decided.csv | grep -q ',decision$'
uqcli schema boundary | grep -q 'json-schema.org'

for shell in bash zsh fish; do
    _UQCLI_COMPLETE=source_$shell uqcli | grep -q "complete_$shell"
done
echo "$(basename "$wheel") works"
