"""A host answers at once or within a second, and no process begins a job that was meant for the one before it."""

import os
import signal
import time
from pathlib import Path

import pytest

from mmcc import __version__
from mmcc.engines.host import Hello, Host, Witness, blind_to
from mmcc.media.sandbox import Limits

WORKER = """
import os, time
from mmcc.errors import OutputError
from mmcc.media.sandbox import serve

def handle(job, report):
    match job["do"]:
        case "name yourself": return {"process": os.getpid()}
        case "work slowly":
            for _ in range(30):
                time.sleep(0.1)
                report(1.0, 3.0)
            return {"done": True}
        case "exit": os._exit(7)
        case "write": raise OutputError("shards/00000.arrow: No space left on device")

serve(handle, confined=False)
"""


@pytest.fixture
def host(tmp_path, monkeypatch):
    (tmp_path / "slow_worker.py").write_text(WORKER)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    host = Host("slow_worker", Limits())
    yield host
    host.close()


def until_done(host, heard):
    while heard.outcome is None and not heard.needs_fresh:
        heard = host.listen()
    return heard


def process_of(host, fresh):
    return until_done(host, host.begin({"do": "name yourself"}, fresh)).outcome[0]["process"]


def test_one_process_does_job_after_job_until_a_fresh_one_is_asked_for(host):
    first = process_of(host, fresh=True)
    assert process_of(host, fresh=False) == first != process_of(host, fresh=True)
    assert not Path(f"/proc/{first}").exists()


@pytest.mark.slow
def test_a_slow_job_is_heard_of_every_second(host):
    heard, told = host.begin({"do": "work slowly"}, True), []
    while heard.outcome is None:
        told.append(heard.progress)
        heard = host.listen()
    assert heard.outcome == ({"done": True}, "", False) and (1.0, 3.0) in told


def test_a_job_for_a_process_that_has_ended_is_not_begun(host):
    assert host.begin({"do": "name yourself"}, False).needs_fresh, "there was none yet"
    assert "exit code 7" in until_done(host, host.begin({"do": "exit"}, True)).outcome[1]
    assert host.begin({"do": "name yourself"}, False).needs_fresh
    killed = process_of(host, fresh=True)
    os.kill(killed, signal.SIGKILL)
    while Path(f"/proc/{killed}/stat").read_text().split(")")[-1].split()[0] != "Z":
        time.sleep(0.01)
    assert host.begin({"do": "name yourself"}, False).needs_fresh


def test_where_nothing_can_be_written_is_told(host):
    heard = host.begin({"do": "write"}, True)
    while not heard.nowhere_to_write:
        heard = host.listen()
    assert "No space left on device" in heard.nowhere_to_write


def test_a_node_knows_our_folders_by_what_we_left_there(tmp_path, monkeypatch):
    slept = []
    (tmp_path / "token").write_text("one")
    (tmp_path / "soup.mp4").write_bytes(b"video")
    here = Witness(str(tmp_path / "token"), "one", {str(tmp_path / "soup.mp4"): 5})
    assert blind_to(here, slept.append) == "" and not slept
    assert blind_to(here._replace(content="two"), slept.append) == str(tmp_path), "a folder of the same name"
    assert sum(slept) == pytest.approx(3), "other machines may see a new file late"
    assert blind_to(here._replace(token=str(tmp_path / "elsewhere/token")), slept.append) == str(tmp_path / "elsewhere")
    assert blind_to(here._replace(sizes={str(tmp_path / "soup.mp4"): 6})) == str(tmp_path / "soup.mp4")
    assert blind_to(here._replace(sizes={str(tmp_path / "stew.mp4"): 6})) == str(tmp_path / "stew.mp4")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert blind_to(here, slept.append) == str(tmp_path), "a folder that it cannot write to"


def test_a_host_says_where_it_is(host, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("one")
    witness = Witness(str(tmp_path / "token"), "one", {})
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert host.hello(witness) == Hello(os.uname().nodename, __version__, True, "")
    monkeypatch.delenv("RAY_AUTH_MODE")
    assert not host.hello(witness).token_required
