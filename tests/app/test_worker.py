"""One thread owns the models; short questions pass long work, and nothing outlives the server."""

import threading
import time

import pytest

from mmcc.app.failures import Busy
from mmcc.app.worker import Stopped, Urgency, Worker

PATIENCE = 120  # seconds: a busy machine does not fail a test


@pytest.fixture
def worker():
    found = Worker()
    yield found
    found.close()


def test_questions_are_answered_in_one_thread_in_order(worker):
    seen = []
    futures = [worker.ask(lambda n=n: seen.append(n) or threading.current_thread().name) for n in range(20)]
    assert {future.result(PATIENCE) for future in futures} == {"model"} and seen == list(range(20))


def test_an_error_goes_to_whoever_asked(worker):
    with pytest.raises(ZeroDivisionError):
        worker.ask(lambda: 1 / 0).result(PATIENCE)
    assert worker.ask(lambda: 1).result(PATIENCE) == 1


def test_the_more_urgent_pass_between_the_batches_of_the_rest(worker):
    """A question in a pause of work, which itself is done in a pause of the background's."""
    begun = {"background": threading.Event(), "work": threading.Event()}
    order, shares = [], {name: [] for name in begun}

    def embed(name, more_urgent):
        for batch in range(3):
            begun[name].set()
            deadline = time.monotonic() + PATIENCE
            while batch == 1 and not worker._waiting[more_urgent] and time.monotonic() < deadline:
                time.sleep(0.001)
            worker.between(batch / 3)
            order.append(f"{name} {batch}")

    def ask():
        worker.between(0.9)  # what it embeds is nobody else's progress
        order.append("question")

    def begin(name, urgency, more_urgent):
        found = worker.ask(lambda: embed(name, more_urgent), urgency, shares[name].append)
        assert begun[name].wait(PATIENCE)
        return found

    background = begin("background", Urgency.BACKGROUND, Urgency.WORK)
    work = begin("work", Urgency.WORK, Urgency.QUESTION)
    for each in (worker.ask(ask), work, background):
        each.result(PATIENCE)
    assert order.index("question") < order.index("work 1") < order.index("background 2")
    assert order[-1] == "background 2" and {len(each) for each in shares.values()} == {3}


def test_the_more_urgent_come_first(worker):
    go, order = threading.Event(), []
    first = worker.ask(lambda: go.wait(PATIENCE))
    later = [worker.ask(lambda each=each: order.append(each), each) for each in reversed(Urgency)]
    go.set()
    for each in (first, *later):
        each.result(PATIENCE)
    assert order == list(Urgency)


def test_too_many_questions_are_refused(worker):
    go, begun, waiting = threading.Event(), threading.Event(), []
    worker.ask(lambda: begun.set() or go.wait(PATIENCE))
    assert begun.wait(PATIENCE)
    with pytest.raises(Busy):
        for _ in range(1000):
            waiting.append(worker.ask(lambda: None))
    go.set()
    assert len(waiting) >= 500 and all(each.result(PATIENCE) is None for each in waiting)


def test_a_question_that_nobody_waits_for_is_not_asked(worker):
    go, asked = threading.Event(), []
    worker.ask(lambda: go.wait(PATIENCE))
    gone = worker.ask(lambda: asked.append(1))
    assert gone.cancel()
    go.set()
    worker.ask(lambda: None).result(PATIENCE)
    assert not asked


def test_closing_ends_long_work_at_its_next_batch():
    worker, begun = Worker(), threading.Event()

    def embed():
        begun.set()
        while True:
            time.sleep(0.001)
            worker.between(0.5)

    work = worker.ask(embed, Urgency.WORK)
    waiting = worker.ask(lambda: None, Urgency.WORK)
    assert begun.wait(PATIENCE)
    worker.close()
    with pytest.raises(Stopped):
        work.result(PATIENCE)
    assert waiting.cancelled() and not worker._thread.is_alive()
    with pytest.raises(Stopped):
        worker.ask(lambda: None)
