"""Tests of turns: parallel tasks that do a part of their work in order."""

import time

import pytest

from uqcli.base.running.concurrency import Turns, parallel_map


@pytest.fixture
def threads(monkeypatch):
    monkeypatch.setattr("uqcli.base.running.concurrency.threads", lambda: 4)


@pytest.mark.usefixtures("threads")
def test_work_is_done_in_order_whatever_is_ready_first():
    turns, order = Turns(), []

    def task(turn):
        def prepare():
            time.sleep(0.01 * (turn % 3 == 0))
            return turn

        return turns.take(turn, prepare, order.append)

    assert list(parallel_map(task, range(20))) == list(range(20)) == order


@pytest.mark.usefixtures("threads")
def test_an_error_in_one_turn_lets_the_others_go_on():
    turns, order = Turns(), []

    def task(turn):
        def prepare():
            if turn == 1:
                raise ValueError("one")
            return turn

        return turns.take(turn, prepare, order.append)

    with pytest.raises(ValueError, match="one"):
        list(parallel_map(task, range(20)))
    assert order == [turn for turn in range(20) if turn != 1][: len(order)]
