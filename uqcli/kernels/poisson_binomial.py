"""Distribution of a sum of independent indicators: the Poisson binomial distribution."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.kernels.compile import kernel


def distribution(probability: Floats, weight: Ints, cap: int) -> Floats:
    """Compute the probabilities of 0 to ``cap - 1`` successes, and of ``cap`` or more; shape (cap + 1,).

    All terms are positive, so that small probabilities keep their relative accuracy. The weight is the number
    of indicators of each probability, and the cap is at least 1.
    """
    mass = np.zeros(cap + 1)
    mass[0] = 1.0
    halvings = cap * cap * 2 * np.log2(np.maximum(weight, 2))
    work = int(np.minimum(weight * cap, halvings).sum()) + len(weight)
    add_indicators.run(work, probability, weight, mass, *(np.empty(cap + 1) for _ in range(2)))
    return mass


@kernel
def add_indicators(probability: Floats, weight: Ints, mass: Floats, power: Floats, convolved: Floats) -> None:
    """Add indicators one by one, or equal ones by repeated doubling if that takes fewer steps."""
    cap = len(mass) - 1
    for row in range(len(probability)):
        success, copies = probability[row], weight[row]
        failure = 1.0 - success
        bits = 0
        while copies >> bits:
            bits += 1
        if copies <= 2 * cap * bits:
            for _ in range(copies):
                mass[cap] += mass[cap - 1] * success
                for j in range(cap - 1, 0, -1):
                    mass[j] = mass[j] * failure + mass[j - 1] * success
                mass[0] *= failure
            continue
        for i in range(cap + 1):
            power[i] = failure if i == 0 else success if i == 1 else 0.0
        for step in range(2 * bits):
            squares = step % 2 == 1  # else the indicators of a bit are added
            if not squares and not copies >> step // 2 & 1:
                continue
            for i in range(cap + 1):
                convolved[i] = 0.0
            for i in range(cap + 1):
                factor = power[i] if squares else mass[i]
                for j in range(cap + 1):
                    convolved[min(i + j, cap)] += factor * power[j]
            for i in range(cap + 1):
                power[i] = convolved[i] if squares else power[i]
                mass[i] = mass[i] if squares else convolved[i]
