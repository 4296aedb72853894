"""Prints a table of the default rule and the exact optimum: ``python -m tests.statistical.default_rule``."""
# ruff: noqa: T201 - a table for people

import argparse

import numpy as np

from tests.statistical.laws import LAWS, measure_boundary

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
    options = parser.parse_args()
    names = ("excess", "recall", "gap", "apparent", "precision_bias", "recall_bias")
    shares = ("precision_covered", "recall_covered")
    print(
        f"{'law':22} {'rule':8} {'rows':>6} {'found':>5} broken", *(f"{name:>15}" for name in names + shares)
    )
    for name, law in LAWS.items():
        for size in options.sizes:
            for rule in options.rules:
                lines = [
                    measure_boundary(law, size, seed, **RULES[rule]) for seed in range(options.hold_outs)
                ]
                feasible = [line for line in lines if line]
                missed = np.mean([line["excess"] < 0 for line in feasible]) if feasible else np.nan
                cells = [
                    np.mean([line[column] for line in feasible if column in line] or [np.nan])
                    for column in names + shares
                ]
                cells = [f"{100 * value:15.2f}" for value in cells]
                print(
                    f"{name:22} {rule:8} {size:6} {len(feasible):5} {100 * missed:6.0f}", *cells, flush=True
                )


if __name__ == "__main__":
    main()
