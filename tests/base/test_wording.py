"""Tests of how rates are written: so that they differ as they do."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.base.wording import percent, percent_and_range, percent_in_range, percents, range_of

RATES = st.floats(1e-6, 1)


def number(text):
    return float(text.removesuffix(" %"))


@settings(max_examples=500)
@given(first=RATES, second=RATES)
def test_two_rates_of_a_sentence_have_one_unit_and_differ_as_they_do(first, second):
    texts = percents(first, second)
    shown, true = number(texts[0]) - number(texts[1]), 100 * (first - second)
    assert abs(shown - true) <= 0.4 * abs(true) + 1e-9
    assert (first > second + 1e-9) <= (shown > 0)
    for rate, text in zip((first, second), texts, strict=True):
        assert number(text) == pytest.approx(100 * rate, rel=0.051)
        assert number(text) == pytest.approx(100 * rate, abs=0.51)


@settings(max_examples=500)
@given(rate=RATES)
def test_a_rate_has_two_digits_and_near_one_two_of_what_is_missing(rate):
    text = percent(rate)
    assert text.endswith(" %")
    missing = 100 * (1 - rate)
    assert number(text) == pytest.approx(100 * rate, rel=0.0501)
    if rate > 0.985 and missing > 1e-6:
        assert 100 - number(text) == pytest.approx(missing, rel=0.0501)
    digits = re.sub(r"^0*\.?0*", "", text.removesuffix(" %").replace(".", ""))
    assert rate > 0.985 or len(digits) == 2


@settings(max_examples=300)
@given(ends=st.lists(RATES, min_size=3, max_size=3).map(sorted))
def test_a_range_is_in_order_and_its_ends_are_told_from_its_rate(ends):
    low, value, high = ends
    shown = re.findall(r"[\d.]+", percent_and_range(value, low, high, "90 % range "))
    shown.remove("90")
    assert re.findall(r"[\d.]+", percent_in_range(value, low, high)) == shown
    in_order = [number(shown[1]), number(shown[0]), number(shown[2])]
    assert in_order == sorted(in_order)
    for near, far, low_text, high_text in ((low, value, *shown[1::-1]), (value, high, shown[0], shown[2])):
        assert far - near < 1e-9 or low_text != high_text


@settings(max_examples=300)
@given(ends=st.lists(st.floats(0.1, 0.98), min_size=3, max_size=3).map(sorted))
def test_a_rate_and_its_range_have_the_same_decimals(ends):
    low, value, high = ends
    decimals = {len(text.partition(".")[2]) for text in percents(value, low, high)}
    assert len(decimals) == 1 or max(decimals) > 1  # nearly equal ends are told apart by more


def test_what_is_undefined_or_has_no_range_says_so():
    assert (percent(None), percent_in_range(None, None, None)) == ("-", "-")
    assert percent_and_range(None, None, None) == "undefined"
    assert range_of(None, 0.5) == ""
    assert (percent(0.0), percent(1.0), percent(1.2)) == ("0 %", "100 %", "120 %")
