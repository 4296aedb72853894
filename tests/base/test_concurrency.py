"""Tests of prefetching threads: items stay in order, errors arrive in place, threads end."""

import threading

import pytest

from uqcli.base.running import concurrency
from uqcli.base.running.concurrency import ahead, is_abandoned, parallel_map


def items_then_error(stop):
    yield from range(stop)
    raise ValueError("broken")


@pytest.mark.parametrize("iterate", [ahead, lambda items: parallel_map(lambda item: item, items)])
def test_items_arrive_in_order_and_errors_after_them(iterate):
    assert list(iterate(range(100))) == list(range(100))
    with pytest.raises(ValueError, match="broken"):
        list(iterate(items_then_error(5)))


@pytest.mark.parametrize(("cores", "items"), [(1, 1), (1, 9), (2, 1), (2, 9)])
def test_a_single_item_or_core_needs_no_thread(monkeypatch, cores, items):
    monkeypatch.setattr(concurrency, "threads", lambda: cores)
    used = set(parallel_map(lambda _: threading.get_ident(), list(range(items))))
    assert (threading.get_ident() in used) == (cores == 1 or items == 1)


def test_an_error_of_an_item_is_raised():
    def work(item):
        if item == 3:
            raise ValueError("broken")
        return item

    with pytest.raises(ValueError, match="broken"):
        list(parallel_map(work, range(1000)))


def test_the_thread_of_an_abandoned_iterator_ends():
    before = set(threading.enumerate())
    last = 0
    for item in ahead(iter(range(10**9))):
        last = item
        if item == 4:
            break
    assert last == 4
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=5)
        assert not thread.is_alive()


def test_an_error_of_the_items_comes_after_the_results_before_it():
    done = []
    with pytest.raises(ValueError, match="broken"):
        done.extend(parallel_map(lambda item: item, items_then_error(50)))
    for item in parallel_map(lambda item: 1 // (3 - item), [0, 1]):
        done.append(item)
    results = parallel_map(lambda item: 1 // (3 - item), items_then_error(5))
    with pytest.raises(ZeroDivisionError):
        list(results)


def test_a_finished_result_does_not_wait_for_others():
    def items():
        yield 1
        while not seen:  # the first result is taken before the last item is made
            threading.Event().wait(0.01)
            yield 2

    seen = []
    for result in parallel_map(lambda item: item, items()):
        seen.append(result)
    assert seen[0] == 1


def test_a_failed_task_does_not_wait_for_an_item_that_does_not_come():
    waited = []

    def items():
        yield 0
        while not is_abandoned() and len(waited) < 2000:
            waited.append(threading.Event().wait(0.01))

    def fail(item):
        threading.Event().wait(0.2)  # the next item is awaited by then
        return 1 // item

    with pytest.raises(ZeroDivisionError):
        list(parallel_map(fail, ahead(items())))
    assert len(waited) < 2000
