"""Draws the figure of the page on watching: a simulated year, and the evidence of a change by both counts.

``make figures`` writes it.
"""

from fractions import Fraction

import numpy as np

from tests.documentation.pages import ROOT
from uqcli.reports.document import Figure
from uqcli.reports.figures import BLUE, GREY, RED, to_svg
from uqcli.watch.change import ChangeEvidence
from uqcli.watch.evidence import log_change_evidence

BOUND = Fraction(1, 2)
FALLS_ON, FALL = 270, 0.15
CORRELATION, ALERTS, DAYS = 0.1, 50, 365
RUN_LENGTH = 1000


def year():
    """Draw right alerts and alerts of a year, in which rows of a day go together and the precision falls."""
    random = np.random.default_rng(11)
    trials = np.maximum(1, np.rint(ALERTS * np.exp(random.normal(0, 0.5, DAYS)))).astype(np.int64)
    rate = np.where(np.arange(DAYS) < FALLS_ON, 0.5, 0.5 - FALL)
    return random.binomial(
        trials, random.beta(rate * (1 / CORRELATION - 1), (1 - rate) * (1 / CORRELATION - 1))
    ), trials


def evidence(successes, trials, *, by_day):
    """Return the evidence of a change after each day, as a power of ten."""
    counts, looks = np.stack([successes, trials], axis=1), range(1, len(trials) + 1)
    if by_day:
        change = ChangeEvidence(counts, BOUND, np.log(RUN_LENGTH))
        logs = [change.log_sum(day) for day in looks]
    else:
        logs = [log_change_evidence(counts[:day], BOUND) for day in looks]
    return np.array(logs) / np.log(10)


def draw(canvas):
    successes, trials = year()
    days = np.arange(1, DAYS + 1)
    above, below = canvas.subplots(2, 1, sharex=True)
    above.scatter(days, successes / trials, s=trials / 4, color=BLUE, alpha=0.5, linewidth=0)
    above.axhline(float(BOUND), color=RED, linewidth=1.5)
    above.set_ylabel("right alerts, by day")
    above.set_ylim(0, 1)
    above.axvline(FALLS_ON, color=GREY, linewidth=1, linestyle=(0, (3, 2)))
    above.annotate(
        "the precision falls", (FALLS_ON, 0.95), xytext=(4, 0), textcoords="offset points", color=GREY
    )
    for name, by_day, color in (("rows taken as independent", False, GREY), ("by day", True, BLUE)):
        path = evidence(successes, trials, by_day=by_day)
        rings = int(np.argmax(path >= np.log10(RUN_LENGTH))) + 1
        below.plot(
            days, np.minimum(path, 12), color=color, linewidth=1.6, label=f"{name}: rings on day {rings}"
        )
        below.plot([rings], [np.log10(RUN_LENGTH)], marker="o", color=color)
    below.axhline(np.log10(RUN_LENGTH), color=RED, linewidth=1.5)
    below.axvline(FALLS_ON, color=GREY, linewidth=1, linestyle=(0, (3, 2)))
    below.set_yticks([0, 3, 6, 9, 12], ["1", "1,000", "10^6", "10^9", "10^12"])
    below.set_ylim(-0.7, 16)  # room for the legend
    below.set_ylabel("evidence of a change")
    below.set_xlabel("day of the year")
    below.legend(loc="upper left", frameon=False)
    return []


if __name__ == "__main__":
    figure = Figure(title="A year of alerts", caption="", width=8.5, height=5.2, narrow_height=5.2, draw=draw)
    (ROOT / "docs" / "images" / "watch-year.svg").write_text(to_svg(figure))
