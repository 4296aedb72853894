"""What every calibration map can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
from msgspec import Meta

from uqcli.choices import CalibrationMethod
from uqcli.document import Table

if TYPE_CHECKING:
    from uqcli.class_counts import Matrix
    from uqcli.counts import Floats, Ints
    from uqcli.methods.calibrate.questions import FeatureColumn
    from uqcli.methods.calibrate.scale import Scale

Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Probabilities of rows, and their leaves where one partition gave them; each of shape (n,)."""

    probability: Floats
    leaf: Ints | None = None


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Parts of the rows that a map treats each in its own way.

    Attributes
    ----------
    names
        In words.
    number : int64, shape (n,)
        Part of each row, below the number of names.
    """

    names: tuple[str, ...]
    number: Ints


class BaseMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map"):
    """A map; each also has fields of its own and the tag it is saved under.

    Attributes
    ----------
    methods
        The methods whose fit it is.
    needs_uncertainty
        Whether it looks at the uncertainty.
    """

    methods: ClassVar[frozenset[CalibrationMethod]]
    needs_uncertainty: ClassVar[bool] = False

    @property
    def features(self) -> Sequence[FeatureColumn]:
        """Columns it asks about besides the score."""
        return ()

    @property
    def has_leaves(self) -> bool:
        """Whether one partition numbers the rows."""
        return False

    @property
    def largest_error(self) -> float | None:
        """Bound on its error over all bins at once; None where there is none."""
        return None

    def steps(self) -> Sequence[float]:
        """Probabilities that it steps between, at least the least and the greatest; none of a curve."""
        return ()

    def contradiction(self) -> str | None:
        """What does not fit together in it, first of all; None if everything does."""
        raise NotImplementedError

    def tables(self, undersampled: float) -> list[Table]:
        """What it does, for people.

        Parameters
        ----------
        undersampled
            As in ``Scale``: the odds are divided by it before the map.
        """
        raise NotImplementedError


class BaseRowMap(BaseMap, frozen=True, kw_only=True, tag_field="map"):
    """A map from a row's score, and perhaps more of it, to the probability of the positive label."""

    def predict(
        self,
        corrected: Floats,
        scale: Scale,
        uncertainty: Floats | None = None,
        features: Mapping[str, Floats] | None = None,
    ) -> Calibrated:
        """Calibrate rows.

        Parameters
        ----------
        corrected : float64, shape (n,)
            Scores after the correction of their scale.
        uncertainty : float64, shape (n,)
            For maps that need it.
        features
            For maps with features: values as in ``Feature`` under the map's own levels, by column name.
        """
        raise NotImplementedError

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """The parts of rows; None where the map treats all rows alike.

        Parameters
        ----------
        uncertainty : float64, shape (n,), or None
        leaf : int64, shape (n,), or None
            As predicted.
        """
        del uncertainty, leaf
        return None


class BaseScoreMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map"):
    """A map of the score alone."""

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """Probabilities of corrected scores, of shape (n,)."""
        raise NotImplementedError

    def formula(self) -> str:
        """The map in one line."""
        raise NotImplementedError

    def predict(
        self,
        corrected: Floats,
        scale: Scale,
        uncertainty: Floats | None = None,
        features: Mapping[str, Floats] | None = None,
    ) -> Calibrated:
        """See BaseRowMap."""
        del uncertainty, features
        return Calibrated(probability=self.probability(corrected, scale))

    def tables(self, undersampled: float) -> list[Table]:
        """Its formula."""
        del undersampled
        return [formula_table(self.formula())]


class BaseClassMap(BaseMap, frozen=True, kw_only=True, tag_field="map"):
    """A map from the probabilities of a row's classes to better ones."""

    def probabilities(self, probability: Matrix) -> Matrix:
        """Calibrated probabilities of shape (n, C), each row adding up to 1."""
        raise NotImplementedError


def formula_table(said: str) -> Table:
    """A map that is one formula."""
    return Table(title="Map", header=("formula",), rows=[(said,)])
