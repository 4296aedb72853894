"""Requests for rows in memory."""

from uqcli.api.arguments import rows_of
from uqcli.api.calibration import roles_of
from uqcli.engines.request import DataRequest, in_memory


def labelled_rows(score, label, **columns):
    """Return the request for rows of a score, or of class probabilities, with columns by role or name."""
    frame, named = rows_of(score, label, **columns)
    return DataRequest(inputs=in_memory(frame), roles=roles_of(frame.columns, named))
