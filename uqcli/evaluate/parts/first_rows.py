"""The first rows of each group are flagged: how many, and how many more rank as the last of them does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.evaluate.statements import MeasuredPart, Phrases, Remark
from uqcli.reports.document import Metrics


@dataclass(frozen=True, kw_only=True)
class FirstRows(MeasuredPart):
    """Numbers of flagged rows by group; ``ties`` are others that rank as the last one of their group does."""

    taken: Sequence[int]
    ties: int

    def metrics(self, phrases: Phrases) -> Metrics:
        return {
            "capacity": {
                "groups": len(self.taken),
                "min": min(self.taken),
                "median": float(np.median(self.taken)),
                "max": max(self.taken),
                "ties": self.ties,
            }
        }

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        lowest, highest = min(self.taken), max(self.taken)
        flagged = count(highest) if lowest == highest else f"{count(lowest)} to {count(highest)}"
        return {"flagged per group": flagged} if len(self.taken) > 1 else {}


def flagged_first(first: str, fewer: str) -> Remark:
    """Return the part of the rows that are measured: what they are, and which groups have fewer."""
    sentence = f"Flagged are {first}, whatever the thresholds."
    return Remark(said=[("capacity", sentence), *([("fewer-rows", fewer)] if fewer else [])])
