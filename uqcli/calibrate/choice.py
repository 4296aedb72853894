"""The choice of the simplest calibration method that is as good as the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uqcli.base.choices import CalibrationMethod
from uqcli.base.records import dataclass
from uqcli.calibrate.folds import CrossFittedLosses


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Cross-fitted log loss of a method, its excess over the lowest, and the standard error of the excess."""

    method: CalibrationMethod
    log_loss: float
    excess: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A choice among methods.

    Attributes
    ----------
    tried
        Methods from the simplest; empty if there are too few rows to compare them.
    """

    method: CalibrationMethod
    tried: tuple[Tried, ...]

    @classmethod
    def among(cls, losses: Mapping[CalibrationMethod, CrossFittedLosses]) -> Choice:
        """Choose the first method whose loss exceeds the lowest by at most one standard error."""
        above = excesses(list(losses.values()))
        tried = tuple(
            Tried(method=method, log_loss=loss.mean, excess=excess, error=error)
            for (method, loss), (excess, error) in zip(losses.items(), above, strict=True)
        )
        return cls(method=tried[first_within_error(above)].method, tried=tried)

    def reason(self) -> str:
        """State why the method was chosen."""
        if not self.tried:
            return f"Chose {self.method}: too few rows to compare methods."
        lowest = min(self.tried, key=lambda candidate: candidate.log_loss)
        if lowest.method is self.method:
            least = "it has the lowest log loss, by more than a standard error"
            return f"Chose {self.method}: of {len(self.tried)} methods tried, {least}."
        return (
            f"Chose {self.method}: simpler than {lowest.method}, and within a standard error of its log loss."
        )


def excesses(losses: Sequence[CrossFittedLosses]) -> list[tuple[float, float]]:
    """Return by how much each mean loss exceeds the lowest, with the standard error of the excess."""
    best = min(losses, key=lambda loss: loss.mean)
    return [loss.excess(best) for loss in losses]


def first_within_error(above: Sequence[tuple[float, float]]) -> int:
    """Return the first position whose excess is at most its standard error (see ``excesses``)."""
    return next(index for index, (excess, error) in enumerate(above) if excess <= error)
