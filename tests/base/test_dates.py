"""Dates that texts name, against Python's own parser of forms."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.dates import date_of

FORMS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S.%f", "%d-%b-%y"),
    *("%d-%b-%Y", "%d %B %Y", "%d/%b/%Y", "%B %d, %Y", "%b %d %Y", "%a, %d %b %Y %H:%M:%S", "%A, %B %d, %Y"),
)


@given(st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31)), st.sampled_from(FORMS), st.booleans())
def test_a_date_of_any_form_is_read(time, form, short):
    text = time.strftime(form)
    if short and "%m" in form and form != "%Y%m%d":
        text = text.replace(f"{time:%m-%d}", f"{time.month}-{time.day}")
    assert date_of(text) == time.date()
    assert date_of(f" {text.upper()} ") == time.date()


@given(st.text(alphabet="0123456789-/.: JanMarchTW", max_size=14))
def test_what_is_read_is_a_date_of_a_known_form(text):
    found = date_of(text)
    assert found is None or (isinstance(found, date) and text.strip())


AMBIGUOUS = (
    "31.03.26",
    "03.31.2026",
    "31-03-2026",
    "03/04/2026",
    "2026-W07",
    "2026-02-30",
    "2026-03-310",
    "7",
    "2026-3/1",
)


@pytest.mark.parametrize("text", [*AMBIGUOUS, "ma 3, 2026", ""])
def test_no_order_is_guessed(text):
    assert date_of(text) is None
