"""Whatever a worker does, the parent carries on and reports the outcome of every job."""

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mmcc.media.confinement import MACHINES
from mmcc.media.sandbox import Limits, WorkerPool

# A worker that does what its job says. It is a separate module, started like any other worker.
OBEDIENT = """
import os, sys, time, signal
from mmcc.errors import InputError
from mmcc.media import confinement
from mmcc.media.sandbox import serve

opened = []

def begin(job):
    if "file" in job: opened.append(open(job["file"], "w"))
    if "machine" in job: confinement.MACHINES.clear()

def handle(job, report):
    match job["do"]:
        case "double": return {"twice": 2 * job["number"]}
        case "crash": os.kill(os.getpid(), signal.SIGSEGV)
        case "exit": os._exit(7)
        case "hang": time.sleep(600)
        case "work slowly":
            for _ in range(job["steps"]):
                time.sleep(0.1)
                report(1.0, 2.0)
            return {"done": True}
        case "eat": return {"bytes": len(bytearray(job["bytes"]))}
        case "refuse": raise InputError("soup.mp4", "is cold", "Heat it")
        case "err": raise KeyError("spoon")
        case "print": print("noise on stdout", flush=True); os.write(1, b"more\\n"); return {}
        case "lie": os.write(int(job["fd"]), b"{]\\n"); time.sleep(600)
        case "name yourself": opened[0].write(str(os.getpid())); opened[0].flush(); time.sleep(600)
        case "call": return {"returned": repr(eval(job["code"]))}

serve(handle, begin=begin)
"""


@pytest.fixture
def pool(tmp_path, monkeypatch):
    (tmp_path / "obedient.py").write_text(OBEDIENT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(workers=2, **limits):
        return WorkerPool("obedient", workers, Limits(**limits))

    return make


def run(pool, *jobs):
    """Outcome by job number."""
    with pool:
        outcomes = list(pool.run(iter({"number": number, **job} for number, job in enumerate(jobs))))
    assert sorted(outcome.job["number"] for outcome in outcomes) == list(range(len(jobs))), "one outcome per job"
    return {outcome.job["number"]: outcome for outcome in outcomes}


def test_every_job_is_answered(pool):
    outcomes = run(pool(), *[{"do": "double"}] * 20)
    assert {number: outcome.answer for number, outcome in outcomes.items()} == {n: {"twice": 2 * n} for n in range(20)}


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ({"do": "crash"}, "SIGSEGV"),
        ({"do": "exit"}, "exit code 7"),
        ({"do": "refuse"}, "is cold. Heat it."),
        ({"do": "err"}, "internal error: KeyError"),
        ({"do": "eat", "bytes": 3 << 30}, "needs more than 1 GB of memory"),
    ],
)
def test_a_failing_job_reports_its_reason_and_the_others_continue(pool, job, reason):
    outcomes = run(pool(memory=1 << 30), {"do": "double"}, job, *[{"do": "double"}] * 5)
    assert outcomes[1].answer is None and reason in outcomes[1].reason
    assert all(outcome.answer for number, outcome in outcomes.items() if number != 1)


def hurried(pool, **limits):
    """A pool whose workers have begun: on a busy machine that alone may take longer than its limits."""
    for number in range(pool._count):
        pool.give({"do": "double", "number": number}, number)
    while any(worker.job for worker in pool._workers.values()):
        list(pool.wait())
    pool._limits = Limits(**limits)
    return pool


def test_a_hang_is_ended(pool):
    outcomes = run(hurried(pool(), stall_seconds=2), {"do": "hang"}, *[{"do": "double"}] * 3)
    assert "no progress for 2 s" in outcomes[0].reason
    assert all(outcomes[number].answer for number in (1, 2, 3))


@pytest.mark.slow
def test_progress_keeps_a_job_alive_until_its_time_is_up(pool):
    patient = run(hurried(pool(1), stall_seconds=2), {"do": "work slowly", "steps": 25})
    assert patient[0].answer == {"done": True}
    ended = run(pool(seconds=1), {"do": "work slowly", "steps": 100})
    assert "over 1 s" in ended[0].reason


def test_what_a_library_prints_is_not_an_answer(pool):
    assert run(pool(1), {"do": "print"})[0].answer == {}


def test_an_answer_that_cannot_be_parsed_fails_the_job(pool):
    # The worker sends its answers on a duplicate of its standard output: the first free number after the usual three.
    assert "could not be parsed" in run(pool(1), {"do": "lie", "fd": 3})[0].reason


CONFINED = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in MACHINES, reason="this system has no filter of system calls"
)


@CONFINED
@pytest.mark.parametrize(
    "code",
    [
        "__import__('socket').socket()",
        "__import__('socket').socketpair()",
        "open({file!r}, 'w')",
        "open({file!r}, 'a')",
        "os.open({file!r}, os.O_RDONLY | os.O_TRUNC)",
        "os.open({folder!r}, os.O_RDWR | os.O_TMPFILE)",
        "os.truncate({file!r}, 0)",
        "os.chmod({file!r}, 0)",
        "os.unlink({file!r})",
        "os.rename({file!r}, {file!r} + '2')",
        "os.symlink({file!r}, {file!r} + '2')",
        "os.link({file!r}, {file!r} + '2')",
        "os.utime({file!r})",
        "os.mkdir({folder!r} + '/new')",
        "os.mkfifo({folder!r} + '/new')",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {{}})",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), signal.SIGTERM)",
    ],
)
def test_a_worker_can_neither_write_nor_connect_nor_start_nor_signal(pool, tmp_path, code):
    (tmp_path / "precious").write_text("years of work")
    code = code.format(file=str(tmp_path / "precious"), folder=str(tmp_path))
    outcomes = run(pool(1), {"do": "call", "code": code}, {"do": "double"})
    assert outcomes[0].answer is None and "Operation not permitted" in outcomes[0].reason
    assert outcomes[1].answer == {"twice": 2}, "the same worker goes on"
    assert (tmp_path / "precious").read_text() == "years of work"
    assert {path.name for path in tmp_path.iterdir()} <= {"obedient.py", "precious", "__pycache__"}


@CONFINED
def test_a_worker_reads_runs_threads_and_writes_what_it_has_opened(pool, tmp_path):
    code = "(opened[0].write('soup'), opened[0].flush(), open(__file__).read(6))"
    outcomes = run(pool(1), {"do": "call", "code": code, "file": str(tmp_path / "out")})
    assert (tmp_path / "out").read_text() == "soup" and "\\nimpor" in outcomes[0].answer["returned"]
    code = "(t := __import__('threading').Thread(target=opened.append, args=[1]), t.start(), t.join(), opened)"
    assert "[1]" in run(pool(1), {"do": "call", "code": code})[0].answer["returned"]


@CONFINED
def test_a_confined_worker_is_not_said_to_be_free(pool):
    confined = pool(1)
    run(confined, {"do": "double"})
    assert not confined.unconfined


def test_where_the_system_has_no_filter_workers_work_and_the_pool_knows(pool, tmp_path):
    free = pool(1)
    outcomes = run(free, {"do": "double", "machine": "unknown"}, {"do": "double"})
    assert [outcomes[number].answer for number in (0, 1)] == [{"twice": 0}, {"twice": 2}]
    assert "no filter of system calls for" in free.unconfined


def test_a_worker_that_died_between_jobs_is_replaced(pool):
    with pool(1) as running:
        (first,) = running.run(iter([{"do": "call", "code": "os.getpid()"}]))
        os.kill(int(first.answer["returned"]), signal.SIGKILL)
        _wait_for(lambda: not _alive(int(first.answer["returned"])))
        (second,) = running.run(iter([{"do": "double", "number": 4}]))
    assert second.answer == {"twice": 8}


def test_a_worn_worker_is_replaced_before_its_next_job(pool):
    worn = pool(1)
    worn._worn = lambda number: True
    outcomes = run(worn, *[{"do": "call", "code": "os.getpid()"}] * 3)
    assert len({outcome.answer["returned"] for outcome in outcomes.values()}) == 3


@pytest.mark.parametrize("adjustable", [True, False])
def test_reasons_name_flags_that_the_command_has(pool, adjustable):
    limits = {"memory": 1 << 30, "adjustable": adjustable}
    assert ("(--memory-limit)" in run(pool(1, **limits), {"do": "eat", "bytes": 3 << 30})[0].reason) == adjustable


@pytest.mark.slow
def test_a_job_that_is_not_ready_yet_is_asked_for_again_soon(pool):
    """Though the worker that is busy says nothing."""
    jobs = [{"number": 0, "do": "call", "code": "time.sleep(2)"}, None, None, {"number": 1, "do": "double"}, None]
    with pool(2) as workers:
        workers.start()
        assert [outcome.job["number"] for outcome in workers.run(iter(jobs))] == [1, 0]


def test_nobody_stops_while_a_job_is_not_ready_yet(pool):
    with pool(1) as workers:
        outcomes = list(workers.run(iter([None, {"number": 0, "do": "double"}, None])))
    assert [outcome.answer for outcome in outcomes] == [{"twice": 0}]


def test_progress_is_reported(pool):
    reported = []
    watched = pool(1)
    watched._progress = lambda job, seconds, total: reported.append((seconds, total))
    run(watched, {"do": "work slowly", "steps": 3})
    assert reported == [(1.0, 2.0)] * 3


def test_leaving_the_pool_leaves_no_process(pool, tmp_path):
    started = tmp_path / "pid"
    with pool(2) as running:
        outcomes = running.run(iter([{"do": "name yourself", "file": str(started)}, {"do": "double", "number": 1}]))
        assert next(outcomes).answer == {"twice": 2}
        _wait_for(lambda: started.exists() and started.read_text())
    assert not _alive(int(started.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can end workers with a parent that was killed")
def test_workers_end_with_a_parent_that_is_killed(pool, tmp_path):
    started = tmp_path / "pid"
    script = (
        "from mmcc.media.sandbox import *\n"
        f"job = {{'do': 'name yourself', 'file': {str(started)!r}}}\n"
        "list(WorkerPool('obedient', 1, Limits()).run(iter([job])))"
    )
    parent = subprocess.Popen([sys.executable, "-c", script])
    _wait_for(lambda: started.exists() and started.read_text())
    worker = int(started.read_text())
    assert _alive(worker)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    _wait_for(lambda: not _alive(worker))


def _alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().split(")")[-1].split()[0] != "Z"


def _wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)
