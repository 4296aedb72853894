"""Oracle of precision and recall before labels: isotonic regression of scikit-learn, sums row by row."""

import numpy as np
from scipy.stats import t
from sklearn.isotonic import IsotonicRegression

from uqcli.base.draws import Purpose, digest, generator


def rates(counts, positives, score, weights):
    """Return a function from new scores to rates: corrected at calibration scores, linear between."""
    present = counts > 0
    fit = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1)
    fit.fit(score[present], positives[present] / counts[present], sample_weight=counts[present])
    negative, positive = weights
    plain = fit.predict(score)
    corrected = positive * plain / (positive * plain + negative * (1 - plain))
    return lambda new: np.interp(new, score, corrected)


def logit_interval(fit, refits, chance, confidence):
    width = t.ppf((1 + confidence) / 2, len(refits) - 1) * np.sqrt(1.3**2 * np.var(refits, ddof=1) + chance)
    centre = 2 * fit - np.mean(refits)
    return tuple(1 / (1 + np.exp(-end)) for end in (centre - width, centre + width))


def before_labels(calibration, new, is_flagged, seed, confidence, weights=(1.0, 1.0)):
    """Return (value, low, high) of precision and recall; ``new`` has one score per row."""
    key = digest((calibration.value, calibration.count, calibration.positives))
    groups = np.stack([calibration.count - calibration.positives, calibration.positives])
    fitted, *refitted = (
        rates(drawn.sum(axis=0), drawn[1], calibration.value, weights)
        for drawn in [
            groups,
            *(generator(seed, Purpose.BOOTSTRAP, key, refit).poisson(groups) for refit in range(200)),
        ]
    )
    rate = fitted(new)
    flagged, others = rate[is_flagged], rate[~is_flagged]
    hits, misses, left = flagged.sum(), (1 - flagged).sum(), others.sum()
    variance, variance_left = (flagged * (1 - flagged)).sum(), (others * (1 - others)).sum()
    precisions, recalls = [], []
    for refit in refitted:
        rate = refit(new)
        found = max(rate[is_flagged].sum(), 0.5)
        precisions.append(np.log(found / max((1 - rate[is_flagged]).sum(), 0.5)))
        recalls.append(np.log(found / max(rate[~is_flagged].sum(), 0.5)))
    precision, rows = hits / (hits + misses), hits + misses
    chance = variance / (rows * precision * (1 - precision)) ** 2
    chance_of_recall = variance / hits**2 + variance_left / left**2
    return (
        (precision, *logit_interval(np.log(hits / misses), precisions, chance, confidence)),
        (hits / (hits + left), *logit_interval(np.log(hits / left), recalls, chance_of_recall, confidence)),
    )
