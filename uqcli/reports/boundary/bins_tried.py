"""Table of the numbers of uncertainty bins that were tried, with their gains."""

from __future__ import annotations

from collections.abc import Sequence

from uqcli.document import Table
from uqcli.methods.boundary.bins import BinsTried, fewest_of


def bins_tried_table(tried: Sequence[BinsTried], gained: str = "recall gained, points") -> Table:
    """Build the table of the gain for each number of bins; ``gained`` says of what."""
    chosen = fewest_of(tried)
    rows = [
        (
            str(candidate.bins),
            f"{100 * candidate.gain:+.2f}",
            f"{100 * candidate.behind:.2f} ({100 * candidate.error:.2f})",
            "chosen" if candidate.bins == chosen else "",
        )
        for candidate in tried
    ]
    header = ("uncertainty bins", gained, "behind the best (SE)", "")
    title = "Gain at equal alerts, cross-validated; chosen: the fewest bins within one standard error"
    return Table(title=title, header=header, rows=rows, detail=True)
