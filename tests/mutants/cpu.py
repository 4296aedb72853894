"""Records the CPU seconds of each test, which other processes on the machine change less than its seconds."""

import os

import pytest


def spent():
    """Return the CPU seconds of this process and of the children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Take the time before the fixtures."""
    item.stash[BEGIN] = spent()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Add the seconds to the report of the test."""
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu", f"{spent() - item.stash[BEGIN]:.3f}"))


BEGIN = pytest.StashKey[float]()
