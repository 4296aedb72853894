"""Oracle of grids: sorts and counts row by row."""

from tests.oracles.single_precision import edge, fixed_edge


def moved(edges_of, values, bins):
    """Return the edges where 32-bit numbers and their texts are cut alike."""
    stands_for = fixed_edge if edges_of is equi_span_edges else edge
    return [stands_for(number, values) for number in edges_of(values, bins)]


def equi_weight_edges(values, bins):
    ordered = sorted(values)
    return [ordered[r * len(ordered) // bins] for r in range(1, bins)]


def equi_span_edges(values, bins):
    low, high = min(values), max(values)
    return [low + (high - low) * (r / bins) for r in range(1, bins)]


def bin_of(value, edges):
    return sum(edge <= value for edge in edges)


def expand(data):
    """Repeat each (score, uncertainty, positive, weight) row by its weight."""
    return [(s, u, y) for s, u, y, w in data for _ in range(w)]


def grid(data, binning, uncertainty_bins, score_bins):
    """Return the uncertainty edges, and the score edges and (n, p) cells of each uncertainty bin."""
    rows = expand(data)
    edges_of = equi_span_edges if binning == "equi-span" else equi_weight_edges
    all_scores = [s for s, _, _ in rows]
    u_edges = moved(edges_of, [u for _, u, _ in rows], uncertainty_bins) if uncertainty_bins > 1 else []
    result = []
    for bin_index in range(uncertainty_bins):
        inside = [(s, y) for s, u, y in rows if uncertainty_bins == 1 or bin_of(u, u_edges) == bin_index]
        if score_bins == "all":
            distinct = sorted({s for s, _ in inside})
            cells = [(sum(s == v for s, _ in inside), sum(s == v and y for s, y in inside)) for v in distinct]
            result.append(([edge(score, distinct) for score in distinct], cells))
            continue
        uses_all_scores = binning == "equi-span" or not inside
        if binning == "shared":
            half = score_bins // 2
            positive_scores = [s for s, _, y in rows if y]
            s_edges = equi_weight_edges(all_scores, half)
            s_edges = sorted(s_edges + (equi_weight_edges(positive_scores, half) if positive_scores else []))
            s_edges = [edge(score, all_scores) for score in s_edges]
        else:
            s_edges = moved(edges_of, all_scores if uses_all_scores else [s for s, _ in inside], score_bins)
        cells = [[0, 0] for _ in range(len(s_edges) + 1)]
        for s, y in inside:
            cells[bin_of(s, s_edges)][0] += 1
            cells[bin_of(s, s_edges)][1] += y
        result.append((s_edges, [tuple(cell) for cell in cells]))
    return u_edges, result
