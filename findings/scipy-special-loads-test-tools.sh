#!/usr/bin/env bash
# A beta quantile from scipy loads numpy's wrapper of Fortran, its test tools and unittest.
#
# One would guess: scipy.special, a module of compiled functions, loads little more than numpy itself.
# What happens: it loads numpy.f2py, numpy.testing, numpy.ma, numpy.polynomial, numpy.random and unittest, and
#   charset_normalizer where that is installed.
# Why: scipy's layer for other array libraries copies all public names of numpy by a star import. numpy loads
#   these parts only when they are asked for by name, and a star import asks for each.
# Who meets it: short commands: the exact interval of 12 trials costs as much CPU as loading polars.
source "$(dirname "$0")/common.sh"

packages scipy==1.17.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import sys

import numpy

PARTS = ("numpy.f2py", "numpy.testing", "numpy.ma", "numpy.polynomial", "numpy.random", "unittest")
before = set(sys.modules)
print("with numpy:", [part for part in PARTS if part in before])
from scipy.special import betaincinv

print(f"lower limit of 9 in 12: {betaincinv(9, 4, 0.025):.4f}")
print("then:", [part for part in PARTS if part in sys.modules])
P
seen "$folder/venv/bin/python" look.py <<'P'
with numpy: []
lower limit of 9 in 12: 0.4281
then: ['numpy.f2py', 'numpy.testing', 'numpy.ma', 'numpy.polynomial', 'numpy.random', 'unittest']
P
