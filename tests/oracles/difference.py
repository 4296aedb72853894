"""Oracle of the comparison of two rules, row by row."""

from scipy import stats


def repeated(rows):
    """Repeat (..., weight) rows by their weight."""
    return [row[:-1] for row in rows for _ in range(row[-1])]


def differences(rows):
    """Return the second rule's differences in recall, precision and alerts, with McNemar's p-values.

    Parameters
    ----------
    rows
        (flagged by the first, flagged by the second, positive) per row.
    """

    def ratio(counted, all_rows):
        return len(counted) / len(all_rows) if all_rows else None

    metrics = []
    for rule in (0, 1):
        selected = [row for row in rows if row[rule]]
        hits = [row for row in selected if row[2]]
        metrics.append((ratio(hits, [row for row in rows if row[2]]), ratio(hits, selected), len(selected)))
    recall, precision, selected = (
        None if first is None or second is None else second - first
        for first, second in zip(*metrics, strict=True)
    )
    return {
        "recall": recall,
        "precision": precision,
        "selected": selected,
        "recall_p": mcnemar([row for row in rows if row[2]]),
        "selected_p": mcnemar(rows),
    }


def mcnemar(rows):
    """Return scipy's binomial test of the rows that only one rule flags; None without rows."""
    gained = sum(row[1] and not row[0] for row in rows)
    discordant = sum(row[1] != row[0] for row in rows)
    if not rows:
        return None
    return stats.binomtest(gained, discordant).pvalue if discordant else 1.0
