"""A daily capacity by definition: sort all rows of each group in memory."""


def place_of(score, uncertainty, edges, nested):
    """Return the index of the first nested boundary that flags a row."""
    bin_index = sum(edge <= uncertainty for edge in edges)
    for index, thresholds in enumerate(nested):
        threshold = thresholds[bin_index]
        if threshold is not None and score >= threshold:
            return index
    return len(nested)


def first_rows(rows, edges, nested, limit):
    """Return the positions of the flagged rows; rows are (group, score, uncertainty), None if unusable."""
    flagged = set()
    for group in {row[0] for row in rows if row is not None}:
        ranked = sorted(
            (place_of(row[1], row[2], edges, nested), -row[1], position)
            for position, row in enumerate(rows)
            if row is not None and row[0] == group
        )
        flagged |= {position for _, _, position in ranked[:limit]}
    return flagged


def tied_rows(rows, group, edges, nested, limit):
    """Count the rows of a group that are not flagged, but rank as its last flagged row does."""
    ranks = sorted((place_of(row[1], row[2], edges, nested), -row[1]) for row in rows if row[0] == group)
    return ranks[limit:].count(ranks[limit - 1]) if len(ranks) > limit else 0
