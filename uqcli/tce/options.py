"""Request of ``uqcli tce``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import BinSizing, CalibrationTest, ScoreBinning
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import check_size, size
from uqcli.base.options import (
    PAPERS,
    GroupColumn,
    ResamplingOptions,
    SamplingWeights,
    choice,
    filled,
    names,
    option,
)
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest
    from uqcli.estimates.binning import BinSizes

_PANEL = "Measure"


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """Options of the calibration errors.

    Attributes
    ----------
    n_min, n_max
        Bounds on the rows per bin of pava-bc; None to apply ``bin_sizes``.
    bin_sizes
        Default bin size of pava-bc.
    n_bins
        Number of quantile and equispaced bins.
    alpha
        Level of the tests, in (0, 1].
    """

    panel: ClassVar = _PANEL

    binning: ScoreBinning = choice(
        "Bins for the errors: pava-bc, pava, quantile or equispaced.",
        defaults.SCORE_BINNING,
        also="--bins",
        metavar="NAME",
    )
    n_bins: int = option(
        "B", "Number of quantile or equispaced bins.", defaults.SINGLE_SCORE_BINS, parse=size
    )
    alpha: float = option("A", "Level of the tests.", defaults.ALPHA)
    test: CalibrationTest = choice(
        "Exact binomial test or t-test of each bin.", defaults.CALIBRATION_TEST, panel=PAPERS
    )
    bin_sizes: BinSizing = choice(
        "pava-bc: sizes that suit files of any size, or the paper's N/20.", defaults.BIN_SIZES, panel=PAPERS
    )
    n_min: int | None = None
    n_max: int | None = None

    @property
    def sizes(self) -> BinSizes:
        """Number and sizes of bins."""
        from uqcli.estimates.binning import BinSizes

        return BinSizes(bins=self.n_bins, n_min=self.n_min or 0, n_max=self.n_max or 0, sizing=self.bin_sizes)

    def check(self) -> None:
        """Refuse an invalid level, and numbers of bins out of range.

        Raises
        ------
        UsageError
            alpha or a number of bins is out of range.
        """
        if not 0 < self.alpha <= 1:
            meant = f"did you mean {self.alpha / 100:g}?" if 2 <= self.alpha <= 50 else ""
            raise UsageError(f"alpha {self.alpha:g}", expected="a number above 0 and at most 1", remedy=meant)
        for name, value in (("n_bins", self.n_bins), ("n_min", self.n_min), ("n_max", self.n_max)):
            if value is not None:
                check_size(name, value)


@dataclass(frozen=True, kw_only=True)
class TceRequest(GroupColumn):
    """Rows whose calibration errors are measured, in which parts, and how.

    Attributes
    ----------
    sampling
        Column of 1 / the probability that a row is in the file.
    """

    panel: ClassVar = _PANEL

    audit: tuple[str, ...] = option(
        "COL,...",
        "Test the score in each segment: each value of these columns and each pair of values.",
        (),
        parse=names,
    )
    data: DataRequest = filled()
    measure: MeasureOptions = MeasureOptions()
    resampling: ResamplingOptions = ResamplingOptions()
    sampling: SamplingWeights = SamplingWeights()
