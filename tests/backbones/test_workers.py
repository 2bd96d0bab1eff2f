"""Batches in threads: in order, a little ahead, and without a trace in the caller's settings."""

import threading

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.backbones.workers import map_in_threads


@given(st.lists(st.lists(st.integers(), max_size=5), max_size=20), st.integers(1, 3))
def test_results_are_in_order(groups, threads):
    assert list(map_in_threads(lambda part: part + 1, groups, threads)) == [
        [part + 1 for part in each] for each in groups
    ]


def test_each_worker_has_one_core_and_the_caller_what_it_had():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        found = map_in_threads(lambda _: (torch.get_num_threads(), torch.is_inference_mode_enabled()), [[0, 0]] * 4, 2)
        assert {each for group in found for each in group} == {(1, True)}
        assert torch.get_num_threads() == 3
        afterwards = []
        thread = threading.Thread(target=lambda: afterwards.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        assert afterwards == [3]
        (alone,) = map_in_threads(lambda _: torch.get_num_threads(), [[0]], 1)
        assert alone == [3]
    finally:
        torch.set_num_threads(before)


def test_groups_are_taken_only_a_little_ahead():
    taken = []

    def groups():
        for number in range(100):
            taken.append(number)
            yield [number]

    for number, result in enumerate(map_in_threads(lambda part: part, groups(), 2)):
        assert result == [number] and len(taken) <= number + 5


def test_an_error_is_the_callers_and_nobody_is_left_behind():
    def divide(part):
        return 1 / part

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(map_in_threads(divide, [[1, 2], [0, 1], [1] * 9], 2))
    assert threading.active_count() == before
    stopped = map_in_threads(divide, [[1]] * 20, 2)
    next(stopped)
    stopped.close()
    assert threading.active_count() == before
