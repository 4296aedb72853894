"""A table of the default beside the optimum on three bins: ``python -m tests.statistical.default_rule``."""
# ruff: noqa: T201 - a table for people

import argparse

import numpy as np

from tests.statistical.laws import LAWS, measured

RULES = {
    "default": {},
    "vw-dpmt": {"algorithm": "vw-dpmt"},
    "st": {"algorithm": "st"},
    "mist": {"algorithm": "mist"},
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hold-outs", type=int, default=40)
    parser.add_argument("--sizes", type=int, nargs="*", default=[500, 2000, 10_000, 50_000])
    parser.add_argument("--rules", nargs="*", default=list(RULES))
    asked = parser.parse_args()
    names = ("excess", "recall", "gap", "apparent", "precision_bias", "recall_bias")
    shares = ("precision_covered", "recall_covered")
    print(
        f"{'law':22} {'rule':8} {'rows':>6} {'found':>5} broken", *(f"{each:>15}" for each in names + shares)
    )
    for name, law in LAWS.items():
        for size in asked.sizes:
            for rule in asked.rules:
                lines = [measured(law, size, seed, **RULES[rule]) for seed in range(asked.hold_outs)]
                held = [line for line in lines if line]
                broken = np.mean([line["excess"] < 0 for line in held]) if held else np.nan
                cells = [
                    np.mean([line[each] for line in held if each in line] or [np.nan])
                    for each in names + shares
                ]
                cells = [f"{100 * each:15.2f}" for each in cells]
                print(f"{name:22} {rule:8} {size:6} {len(held):5} {100 * broken:6.0f}", *cells, flush=True)


if __name__ == "__main__":
    main()
