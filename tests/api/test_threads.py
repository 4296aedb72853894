"""Tests that rules fitted in several threads at once are those fitted one after another."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import uqcli
from uqcli.base.running import messages
from uqcli.base.running.concurrency import Threads, ahead, parallel_map


def rows_of(number):
    random = np.random.default_rng(number)
    score = random.random(80)
    return score, (random.random(80) < score).astype(int)


def fitted(number):
    score, label = rows_of(number)
    return uqcli.Calibrator.fit(score, label, method="platt").artifact


@pytest.mark.parametrize("rules", [40, pytest.param(200, marks=pytest.mark.thorough)])
def test_rules_fitted_in_threads_are_those_fitted_one_after_another(rules):
    from uqcli.rules.codec import encode

    alone = [encode(fitted(number)) for number in range(rules)]
    with ThreadPoolExecutor(8) as pool:
        together = [encode(rule) for rule in pool.map(fitted, range(rules))]
    assert together == alone


def test_each_of_several_fits_at_once_collects_its_own_doubts():
    all_collect = Barrier(8)

    def doubts_of(number):
        with messages.collected_doubts() as doubts:
            all_collect.wait(60)
            messages.caution("doubt", f"caution {number}")
            all_collect.wait(60)
            return list(doubts), messages.cautions()

    with ThreadPoolExecutor(8) as pool:
        collected = list(pool.map(doubts_of, range(8)))
    assert collected == [([f"caution {number}"], [f"caution {number}"]) for number in range(8)]


def test_what_a_working_thread_says_belongs_to_the_run(monkeypatch):
    monkeypatch.setattr("uqcli.base.running.concurrency.threads", lambda: 2)
    messages.clear()

    def say(number):
        messages.caution("doubt", f"caution {number}")
        return number

    with messages.collected_doubts() as doubts:
        assert list(parallel_map(say, range(4))) == [0, 1, 2, 3]
        assert list(ahead(say(number) for number in range(4, 6))) == [4, 5]
        with Threads(2) as pool:
            assert list(pool.map(say, range(6, 8))) == [6, 7]
    said = {f"caution {number}" for number in range(8)}
    assert {*messages.cautions()} == said == {*doubts}
    with ThreadPoolExecutor(1) as other:
        assert other.submit(messages.cautions).result() == [], "another thread is another run"
    messages.clear()
    assert messages.cautions() == []
