"""Two selections compared row by row."""

from scipy import stats


def repeated(rows):
    """Rows (..., weight) as often as they weigh."""
    return [row[:-1] for row in rows for _ in range(row[-1])]


def differences(rows):
    """Recall, precision, rows selected and McNemar's p-values of the second selection against the first.

    Parameters
    ----------
    rows
        (selected by the first, selected by the second, positive), a row each.
    """

    def share(chosen, there):
        return len(chosen) / len(there) if there else None

    measured = []
    for place in (0, 1):
        selected = [row for row in rows if row[place]]
        hits = [row for row in selected if row[2]]
        measured.append((share(hits, [row for row in rows if row[2]]), share(hits, selected), len(selected)))
    recall, precision, selected = (
        None if one is None or other is None else other - one for one, other in zip(*measured, strict=True)
    )
    return {
        "recall": recall,
        "precision": precision,
        "selected": selected,
        "recall_p": mcnemar([row for row in rows if row[2]]),
        "selected_p": mcnemar(rows),
    }


def mcnemar(rows):
    """By scipy's binomial test of the rows that only one of them selects; None without rows."""
    gained = sum(row[1] and not row[0] for row in rows)
    apart = sum(row[1] != row[0] for row in rows)
    if not rows:
        return None
    return stats.binomtest(gained, apart).pvalue if apart else 1.0
