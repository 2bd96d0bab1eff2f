"""Jobs go to ready hosts alone, each has one outcome, and nobody writes where a lost host may still write."""

from collections import deque
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.engines.dispatcher import MOST_LOSSES, NOBODY_SECONDS, SILENCE_SECONDS, Dispatcher, Lost, News, Ready
from mmcc.engines.host import Heard
from mmcc.errors import OutputError


class Cluster:
    """A transport whose nodes do what they are told: in each wait, every host takes the next of its choices.

    It checks what it is asked: whom jobs are given to, and that processes do not share shards.
    """

    def __init__(self, choices=(), room=2):
        self.choices, self.now, self._room = deque(choices), 0.0, room
        self.asked, self.ready, self.stopped = set(), set(), set()
        self.working = {}  # host → job
        self.process = {}  # host → the shard that its process writes
        self.writers = {}  # shard → the host of the one process that writes it
        self.begun = []  # (host, job's number, fresh)
        self.waiting_for_answer = set()

    def clock(self):
        return self.now

    def room(self):
        return self._room

    def start(self, host):
        assert host not in self.asked, "numbers are not used again"
        self.asked.add(host)

    def begin(self, host, job, fresh):
        assert host in self.ready and host not in self.stopped and host not in self.working
        if fresh:
            assert job["shard"] not in self.writers, "two processes would write one shard"
            self.writers[job["shard"]] = host
            self.process[host] = job["shard"]
        assert self.process.get(host, job["shard"]) == job["shard"]
        self.working[host] = job
        self.waiting_for_answer.add(host)
        self.begun.append((host, job["number"], fresh))

    def listen(self, host):
        assert host in self.working and host not in self.waiting_for_answer
        self.waiting_for_answer.add(host)

    def stop(self, host):
        assert host in self.asked and host not in self.stopped
        self.stopped.add(host)
        self.ready.discard(host)
        self.working.pop(host, None)
        self.waiting_for_answer.discard(host)

    def wait(self, seconds):
        self.now += seconds
        return [event for host in sorted(self.asked - self.stopped) for event in self._event(host)]

    def _event(self, host):
        choice = self.choices.popleft() if self.choices else "go on"
        if choice == "lose":
            yield Lost(host, "its cable was cut")
        elif choice == "sleep" or (host in self.ready and host not in self.waiting_for_answer):
            return
        elif host not in self.ready:
            self.ready.add(host)
            yield Ready(host, f"node{host}")
        else:
            self.waiting_for_answer.discard(host)
            yield News(host, self._heard(host, choice))

    def _heard(self, host, choice):
        if choice == "report":
            return Heard(progress=(1.0, 2.0))
        job = self.working.pop(host)
        if choice == "end process" and self.begun[-1] != (host, job["number"], True):
            self.process.pop(host)
            return Heard(needs_fresh=True)
        if choice == "fail":
            return Heard((None, "is cold", False))
        return Heard(({"did": job["number"]}, "", False))


def dispatch(cluster, jobs=5, workers=None, late=(), **options):
    """All outcomes; every process gets a shard of its own, as in ingest. `late`: how often jobs are not ready yet."""
    shards, shard_of = iter(range(10**6)), {}

    def prepare(job, host, fresh):
        if fresh:
            shard_of[host] = next(shards)
        return {**job, "shard": shard_of[host]}

    with Dispatcher(cluster, workers, prepare, clock=cluster.clock, **options) as pool:
        waits = [*late, *[0] * jobs]
        ready = chain.from_iterable([*[None] * waits[number], {"number": number}] for number in range(jobs))
        outcomes = list(pool.run(ready))
    assert cluster.stopped == cluster.asked, "no host is left behind"
    assert sorted(outcome.job["number"] for outcome in outcomes) == list(range(jobs)), "one outcome per job"
    return {outcome.job["number"]: outcome for outcome in outcomes}


CHOICES = st.lists(st.sampled_from(["go on", "go on", "lose", "sleep", "report", "end process", "fail"]), max_size=200)


@given(CHOICES, st.integers(0, 8), st.integers(1, 4))
def test_whatever_is_lost_each_job_has_one_outcome(choices, jobs, room):
    cluster = Cluster(choices, room)
    outcomes = dispatch(cluster, jobs)
    for number, outcome in outcomes.items():
        if outcome.answer is not None:
            assert outcome.answer == {"did": number}
            assert (
                cluster.writers[outcome.job["shard"]] == [host for host, job, _ in cluster.begun if job == number][-1]
            )
        else:
            assert "is cold" in outcome.reason or f"lost its node {MOST_LOSSES} times" in outcome.reason


@given(CHOICES, st.lists(st.integers(0, 4), max_size=5))
def test_jobs_that_are_not_ready_yet_are_waited_for(choices, late):
    dispatch(Cluster(choices), len(late), late=late)


@given(CHOICES)
def test_as_many_hosts_as_wanted_and_no_more_than_there_are_jobs(choices):
    cluster, most = Cluster(choices, room=9), []
    start = cluster.start
    cluster.start = lambda host: (start(host), most.append(len(cluster.asked - cluster.stopped)))
    dispatch(cluster, jobs=3, workers=2)
    assert max(most) <= 2
    calm = Cluster(room=9)
    dispatch(calm, jobs=3)
    assert len(calm.asked) == 3


def test_a_job_that_loses_three_nodes_fails_with_the_reason_and_the_others_are_done():
    cluster = Cluster(room=1)
    begin = cluster.begin

    def cursed(host, job, fresh):
        begin(host, job, fresh)
        if job["number"] == 1:
            cluster.choices.append("lose")

    cluster.begin = cursed
    outcomes = dispatch(cluster)
    assert outcomes[1].reason.startswith("lost its node 3 times, the last time node2 (its cable was cut)")
    assert [job for _, job, _ in cluster.begun] == [0, 1, 1, 1, 2, 3, 4], "a lost job is the next to be done"
    assert all(outcomes[number].answer for number in (0, 2, 3, 4))


def test_a_host_that_never_comes_keeps_nobody_waiting():
    """A node that was killed while its host was asked for: Ray says nothing about it, ever."""
    cluster = Cluster(room=2)
    event = cluster._event
    cluster._event = lambda host: () if host == 0 else event(host)
    assert all(outcome.answer for outcome in dispatch(cluster, jobs=6).values())
    assert {host for host, _, _ in cluster.begun} == {1}


def test_a_host_that_stops_answering_is_lost_and_what_it_says_later_is_not_heard():
    cluster = Cluster(room=1)
    event = cluster._event
    cluster._event = lambda host: () if host == 0 and host in cluster.ready else event(host)
    assert dispatch(cluster, jobs=1)[0].answer == {"did": 0}
    assert cluster.begun == [(0, 0, True), (1, 0, True)] and cluster.now > SILENCE_SECONDS
    late = Cluster(room=1)
    calm = late.wait
    late.wait = lambda seconds: [*calm(seconds), News(77, Heard(({"did": 0}, "", False))), Lost(78, "")]
    assert dispatch(late, jobs=2).keys() == {0, 1}


def test_without_any_node_people_are_told_and_at_last_it_ends():
    told, cluster = [], Cluster(["sleep"] * 10**4, room=0)
    with pytest.raises(OutputError, match="no node of the cluster had a free CPU for 10 minutes") as error:
        dispatch(cluster, tell=told.append)
    assert told == ["Waiting for a node of the cluster with a free CPU."] and "Run the same" in error.value.remedy
    assert NOBODY_SECONDS < cluster.now < NOBODY_SECONDS + 10 and cluster.stopped == cluster.asked


def test_nodes_that_join_are_used():
    cluster = Cluster(["report"] * 60, room=1)
    calm = cluster.wait

    def wait(seconds):
        cluster._room = 1 if cluster.now < 15 else 3
        return calm(seconds)

    cluster.wait = wait
    dispatch(cluster, jobs=9)
    assert len({host for host, _, _ in cluster.begun}) == 3


def test_a_worn_process_is_replaced():
    cluster = Cluster(room=1)
    dispatch(cluster, jobs=4, worn=lambda host: len(cluster.begun) == 2)
    assert [fresh for _, _, fresh in cluster.begun] == [True, False, True, False]


def test_a_node_that_cannot_write_ends_it_by_name():
    cluster = Cluster()
    cluster._heard = lambda host, choice: Heard(nowhere_to_write="shards/00001.arrow: No space left on device")
    with pytest.raises(OutputError, match=r"No space left on device \(on node0\)"):
        dispatch(cluster)
    assert cluster.stopped == cluster.asked


def test_progress_and_confinement_are_passed_on():
    seen, cluster = [], Cluster(["go on", "report", "go on"], room=1)
    heard = cluster._heard
    cluster._heard = lambda host, choice: heard(host, choice)._replace(unconfined="it is an old kernel")
    with Dispatcher(
        cluster, 1, lambda job, host, fresh: {**job, "shard": 0}, lambda *told: seen.append(told), clock=cluster.clock
    ) as pool:
        list(pool.run(iter([{"number": 0}])))
        assert pool.unconfined == "it is an old kernel"
    assert seen == [({"number": 0, "shard": 0}, 1.0, 2.0)]
