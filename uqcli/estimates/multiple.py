"""Multiple testing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Name = TypeVar("Name", str, int)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-values for the family-wise error rate (Holm 1979).

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04})
    {'a': 0.02, 'b': 0.04}
    """
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for index, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min(1.0, (len(p_values) - index) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}
