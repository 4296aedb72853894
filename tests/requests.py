"""Requests for rows in memory."""

from uqcli.api.arguments import rows_of
from uqcli.engines.request import ClassColumns, DataRequest, Roles, in_memory


def score_rows(score, label=None, **columns):
    """Return the request for rows of a score, with columns by role or name."""
    frame, named = rows_of(score, label, **columns)
    numbers = {name: name for name in ("score", "uncertainty") if name in frame.columns}
    roles = Roles(numbers=numbers, label=None if label is None else "label", weight=named.get("weight"))
    return DataRequest(inputs=in_memory(frame), roles=roles)


def class_rows(probability, label=None, **columns):
    """Return the request for rows of class probabilities, or of a score if there is one column."""
    frame, named = rows_of(probability, label, **columns)
    if "proba" not in named:
        return score_rows(probability, label, **columns)
    by_class = ClassColumns(columns=named["proba"], names=tuple(named["classes"].split(",")))
    roles = Roles(numbers={}, label="label", weight=named.get("weight"), class_columns=by_class)
    return DataRequest(inputs=in_memory(frame), roles=roles)
