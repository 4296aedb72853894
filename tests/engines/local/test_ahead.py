"""Threads that work ahead: the same items in order, errors where they belong, nothing left behind."""

import threading

import pytest

from uqcli.engines.local.ahead import ahead, parallel_map


def failing(stop):
    yield from range(stop)
    raise ValueError("broken")


@pytest.mark.parametrize("way", [ahead, lambda items: parallel_map(lambda item: item, items)])
def test_items_come_in_order_and_errors_after_them(way):
    assert list(way(range(100))) == list(range(100))
    with pytest.raises(ValueError, match="broken"):
        list(way(failing(5)))


def test_work_that_fails_ends_the_rest():
    def work(item):
        if item == 3:
            raise ValueError("broken")
        return item

    with pytest.raises(ValueError, match="broken"):
        list(parallel_map(work, range(1000)))


def test_a_reader_that_nobody_waits_for_ends():
    before = set(threading.enumerate())
    taken = 0
    for item in ahead(iter(range(10**9))):
        taken = item
        if item == 4:
            break
    assert taken == 4
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=5)
        assert not thread.is_alive()
