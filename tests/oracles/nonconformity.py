"""Oracle of scores and sets by cumulated probability: scans for the next largest class each time."""

import math


def true_label_score(probability, label, uniform):
    """Add up the likelier classes, from the largest down, and a part of the label's own probability."""
    own, mass, last = probability[label], 0.0, math.inf
    while True:
        larger = [value for value in probability if own < value < last]
        if not larger:
            return min(1.0, mass + uniform * own)
        last = max(larger)
        for _ in range(larger.count(last)):
            mass += last


def members(probability, threshold, uniform):
    """Return for each label whether its score is at most its threshold."""
    is_member = [limit >= 1.0 for limit in threshold]
    mass, last = 0.0, math.inf
    while True:
        smaller = [value for value in probability if value < last]
        if not smaller:
            return is_member
        last = max(smaller)
        if last < 0:
            return is_member
        score = min(1.0, mass + uniform * last)
        for label, value in enumerate(probability):
            if value == last and score <= threshold[label]:
                is_member[label] = True
        for _ in range(smaller.count(last)):
            mass += last
