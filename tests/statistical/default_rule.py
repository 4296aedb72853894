"""Prints a table of the default rule and the exact optimum: ``python -m tests.statistical.default_rule``."""
# ruff: noqa: T201 - a table for people

import argparse

import numpy as np

from tests.statistical.populations import POPULATIONS, measure_boundary

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
    rates = ("excess", "recall", "gap", "apparent", "precision_bias", "recall_bias")
    shares = ("precision_covered", "recall_covered")
    print(
        f"{'population':22} {'rule':8} {'rows':>6} {'found':>5} missed",
        *(f"{name:>15}" for name in rates + shares),
    )
    for name, population in POPULATIONS.items():
        for size in options.sizes:
            for rule in options.rules:
                measurements = [
                    measure_boundary(population, size, seed, **RULES[rule])
                    for seed in range(options.hold_outs)
                ]
                feasible = [measurement for measurement in measurements if measurement]
                missed = (
                    np.mean([measurement["excess"] < 0 for measurement in feasible]) if feasible else np.nan
                )
                values = [
                    np.mean(
                        [measurement[column] for measurement in feasible if column in measurement] or [np.nan]
                    )
                    for column in rates + shares
                ]
                values = [f"{100 * value:15.2f}" for value in values]
                print(
                    f"{name:22} {rule:8} {size:6} {len(feasible):5} {100 * missed:6.0f}", *values, flush=True
                )


if __name__ == "__main__":
    main()
