"""Request of ``uqcli backtest``."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, ClassVar

from uqcli.backtest.periods import date_from, days_from, length_from
from uqcli.base import defaults
from uqcli.base.options import filled, option
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.boundary.search.constraint import Constraint
    from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class PeriodOptions:
    """Periods of a history; ``every`` is None for the length that suits it."""

    panel: ClassVar = "Periods"

    day: str | None = option("COL", "Column of the date of each row.", common=True)
    every: str | None = option(
        "LENGTH",
        "Periods: month, week, quarter, or days such as 30d. (default: month; week below six months)",
        parse=length_from,
        common=True,
    )
    fit: int = option(
        "DAYS",
        "Fit each rule on so many days, such as 180d. (default: all days before)",
        0,
        typed=str | None,
        parse=days_from,
        common=True,
    )
    delay: int = option(
        "DAYS",
        "Days until the label of a row is there, such as 30d. (default: 0)",
        0,
        typed=str | None,
        parse=days_from,
        common=True,
    )
    model_until: date | None = option(
        "DATE",
        "Last day that the model was trained on: periods up to it are not counted.",
        typed=str | None,
        parse=date_from,
    )


@dataclass(frozen=True, kw_only=True)
class BacktestRequest:
    """How rules are fitted in a history, its periods and its rows.

    ``targets`` are the constraint with each margin, in the order of ``margin``; empty for the first rows of
    each group, ``top`` of each value of ``per``.
    """

    panel: ClassVar = "Rules"

    margin: str = option(
        "Z,...", "Exceed --precision by Z standard errors; several are compared. (default: 0)", "0"
    )
    certify: str | None = option(
        "DELTA", "Guarantee each rule's target on new data at this risk, as boundary does."
    )
    by: str | None = option("COL", "Find thresholds for each group of this column.")
    top: int | None = option("N", "Flag the N highest scores instead of thresholds.", min=1)
    per: str | None = option("COL", "With --top: N of each value of this column, such as day.")
    confidence: float = option("C", "Confidence of the intervals.", defaults.CONFIDENCE)
    seed: int = option("S", "Seed of the random draws.", defaults.SEED, min=0, max=defaults.MAX_SEED)
    data: DataRequest = filled()
    targets: tuple[Constraint, ...] = ()
    periods: PeriodOptions = PeriodOptions()
