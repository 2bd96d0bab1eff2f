"""Whatever becomes of nodes, cables and the driver, a corpus ingested by Ray equals one ingested here."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from mmcc import __version__
from mmcc.cli.main import main
from mmcc.engines.base import Shared
from mmcc.engines.dispatcher import Ready
from mmcc.engines.host import Hello
from mmcc.engines.ray_engine import RayEngine, RayTransport, require_ray, signals_wait
from mmcc.errors import InputError, MissingDependency, UsageError
from mmcc.media.sandbox import Limits
from tests.corpus.ingesting import SRT, content
from tests.engines.namespaces import Namespaces, why_not

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (extra: ray)")
CHATTER = r"\(raylet\)|\(pid=|\[\d{4}-|INFO|WARNING|Traceback|ray\.exceptions|docs\.ray\.io"  # of Ray
WORKER = "mmcc.corpus.worker"


@pytest.fixture(scope="module")
def cluster():
    if reason := why_not():
        pytest.skip(reason)
    namespaces = Namespaces()
    try:
        namespaces.lay()
        namespaces.start_head()
        namespaces.start_node()
        yield namespaces
    finally:
        namespaces.close()


@pytest.fixture(scope="module")
def local(tmp_path_factory, clips_so_far):
    """Ten narrated videos that take a core a second or two each, and their corpus, ingested here."""
    whole = clips_so_far(".mp4", "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25", "-t", "60", "-g", "25")
    folder = tmp_path_factory.mktemp("local")
    for number in range(10):
        (folder / f"soup{number}.mp4").hardlink_to(whole)
        (folder / f"soup{number}.srt").write_text(SRT.replace("onion", f"onion {number}"))
    assert main(["ingest", str(folder), "-o", f"{folder}.corpus", *SETTINGS, "--quiet"]) == 0
    return Path(f"{folder}.corpus")


@pytest.fixture
def some(local, tmp_path):
    """some(6): a folder with as many of them."""

    def choose(count):
        for number in range(count):
            for kind in ("mp4", "srt"):
                name = f"soup{number}.{kind}"
                (tmp_path / "src").mkdir(exist_ok=True)
                (tmp_path / "src" / name).hardlink_to(local.with_suffix("") / name)
        return tmp_path / "src"

    return choose


SETTINGS = ("--exact", "--size", "32")


def ingest(cluster, folder):
    return cluster.mmcc("ingest", folder, "-o", f"{folder}.corpus", *SETTINGS, "--json")


def wait_for(condition, process=None, seconds=240):
    """While a command runs, if one is given."""
    end = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, f"it ended: {process.communicate()}"
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


def finish(process, code=0, chatter=CHATTER):
    """What it printed, all of which is ours."""
    said, remarks = process.communicate(timeout=240)
    assert process.returncode == code, remarks
    assert not re.search(chatter, said + remarks), remarks
    return json.loads(said)


def assert_equal(folder, local):
    """Frame for frame; and nothing else is left in the corpus."""
    found, whole = content(Path(f"{folder}.corpus")), content(local)
    assert found.keys() == {path.stem for path in folder.glob("*.mp4")}
    assert all(found[video] == whole[video] for video in found)
    assert not [path for path in Path(f"{folder}.corpus").iterdir() if path.name.startswith(".tmp-")]


@pytest.mark.slow
def test_a_raylet_is_killed_and_another_joins(cluster, some, local):
    folder = some(10)
    run = ingest(cluster, folder)
    wait_for(lambda: cluster.processes(cluster.node, WORKER), run)
    cluster.kill_raylet()
    wait_for(lambda: not cluster.processes(cluster.node, WORKER), run)
    cluster.start_node()
    wait_for(lambda: cluster.processes(cluster.node, WORKER), run)
    assert finish(run)["ingested"] == 10
    assert_equal(folder, local)


@pytest.mark.slow
def test_the_driver_is_killed_then_terminated_and_run_again(cluster, some, local):
    folder = some(6)
    index = Path(f"{folder}.corpus") / "index"

    def parts():
        return {path.name for path in index.glob("*.arrow")}

    killed = ingest(cluster, folder)
    wait_for(parts, killed)
    killed.kill()  # ip has become it
    killed.communicate(timeout=60)
    before = parts()
    terminated = ingest(cluster, folder)
    wait_for(lambda: parts() - before, terminated)
    terminated.send_signal(signal.SIGTERM)
    assert finish(terminated, 143)["error"]["cause"].startswith("terminated. Finished work is saved")
    wait_for(lambda: not cluster.processes(cluster.node, WORKER))
    outcome = finish(ingest(cluster, folder))
    assert outcome["ingested"] == 6 and outcome["already_done"] >= 2
    assert_equal(folder, local)


@pytest.mark.slow
def test_what_workers_embed_is_what_this_process_embeds(cluster, local, tmp_path):
    found = {}
    for name in ("here", "there"):
        shutil.copytree(local, tmp_path / name)
    finish(cluster.mmcc("embed", tmp_path / "there", "--text", "minilm", "--workers", 1, "--json"))
    assert main(["embed", str(tmp_path / "here"), "--text", "minilm", "--quiet"]) == 0
    for name in ("here", "there"):
        (vectors,) = (tmp_path / name / "embeddings").iterdir()
        found[name] = vectors.name, content(vectors)
    assert found["here"] == found["there"] and len(found["here"][1]) == 10


@pytest.mark.slow
def test_a_video_that_loses_three_nodes_is_skipped_with_the_reason(cluster, some, local):
    """Whoever passes on its jobs is killed each time a worker has begun the same one."""
    folder = some(2)
    run = cluster.mmcc("ingest", folder, "-o", f"{folder}.corpus", *SETTINGS, "--workers", 1, "--json")

    def workers():
        return [each for name in (cluster.head, cluster.node) for each in cluster.processes(name, WORKER)]

    for _ in range(3):
        wait_for(workers, run)
        (worker,) = workers()
        os.kill(parent_of(worker), signal.SIGKILL)
        wait_for(lambda gone=worker: gone not in workers(), run)
    outcome = finish(run, 4)
    ((skipped,), others) = outcome["skipped"], {path.stem for path in folder.glob("*.mp4")}
    assert re.search(r"lost its node 3 times, the last time \S+ \(.+\)", skipped["reason"])
    lost = Path(skipped["path"]).stem
    assert content(Path(f"{folder}.corpus")).keys() == others - {lost} and outcome["ingested"] == 1
    finish(ingest(cluster, folder))
    assert_equal(folder, local)


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


# Of few frames, as if they were many: compressed vectors in small shards, so that both nodes come to have some.
SEARCH = """
import sys
from mmcc.cli.main import main
from mmcc.tools import nearest, search_index
nearest.SHARD_NODES, search_index.FAISS_ABOVE = 6, 1
sys.exit(main(["search", "kitchen", *sys.argv[1:], "--text", "add the sugar", "--json"]))
"""


@pytest.mark.slow
def test_an_index_by_workers_of_which_some_are_killed_with_their_node_is_the_same(cluster, local, tmp_path):
    pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")
    here, them, worker = tmp_path / "here", tmp_path / "them", "mmcc.tools.nearest_worker"
    chatter = CHATTER.replace("|WARNING", "")  # FAISS warns of so few frames
    expected = finish(cluster.python("-c", SEARCH, local, "--index", here), chatter=chatter)
    on = ("--engine", "ray", "--address", cluster.address)
    run = cluster.python("-c", SEARCH, local, "--index", them, *on)
    wait_for(lambda: cluster.processes(cluster.node, worker), run)
    cluster.kill_raylet()
    found = finish(run, chatter=chatter)
    assert found == expected and found["hits"]
    for name in ("pi.npy", "nodes.lists"):
        assert (here / name).read_bytes() == (them / name).read_bytes()
    assert {path.name for path in them.iterdir()} == {path.name for path in here.iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == {"here", "them"}
    cluster.start_node()


@pytest.mark.slow
def test_a_wrong_token_is_told_in_a_line(cluster, tmp_path):
    """Ray itself says it each second, for as long as it tries."""
    wrong = {"RAY_AUTH_TOKEN": "0" * 64, "RAY_NUM_REDIS_GET_RETRIES": "2"}
    refused = cluster.mmcc("kitchen", tmp_path / "k", "--videos", 1, "--json", environment=wrong)
    assert "it does not accept our token" in finish(refused, 2)["error"]["cause"]


@pytest.mark.slow
def test_a_cable_is_cut_while_the_raylet_lives(cluster, some, local):
    """The last test of the cluster, whose second node is then lost."""
    folder = some(4)
    run = ingest(cluster, folder)
    wait_for(lambda: cluster.processes(cluster.node, WORKER), run)
    cluster.cut()
    assert finish(run)["ingested"] == 4
    assert_equal(folder, local)


@needs_ray
def test_a_ray_that_does_not_start_is_told_in_a_line(monkeypatch):
    def busy(*_, **__):
        raise Exception("The current node timed out during startup.\nThis could happen because …")

    monkeypatch.setenv("RAY_AUTH_TOKEN", "ours")  # otherwise it is made up, and stays
    monkeypatch.setattr("ray.init", busy)
    said = r"could not be started on this machine \(The current node timed out during startup\)"
    with pytest.raises(UsageError, match=said), RayEngine():
        pass


@pytest.mark.slow
@needs_ray
def test_without_an_address_ray_is_started_and_ended_here(tmp_path):
    """A kitchen by a Ray of its own: the same files, and nothing in the home folder."""
    arguments = ["kitchen", "--videos", "3", "--features", "--no-pixels", "--json"]
    assert main([*arguments, str(tmp_path / "here"), "--quiet"]) == 0
    home, ray = tmp_path / "home", Path(tempfile.mkdtemp(prefix="mmcc"))
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "RAY_TMPDIR": str(ray)}
    command = [sys.executable, "-m", "mmcc", *arguments, str(tmp_path / "there"), "--engine", "ray", "--workers", "1"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0 and not done.stderr and json.loads(done.stdout)["written"] == 3
        here, there = (
            {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
            for name in ("here", "there")
        )
        assert here == there and not list(home.iterdir())
    finally:
        shutil.rmtree(ray, ignore_errors=True)


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr("mmcc.engines.ray_engine.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'mmcc\[ray\]'"):
        require_ray()


def test_an_address_where_nothing_answers(monkeypatch):
    pytest.importorskip("ray", reason="needs the extra ray")
    monkeypatch.setattr("mmcc.engines.ray_engine._silence", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    address = f"127.0.0.1:{free}"
    with pytest.raises(UsageError, match=f"{address}: nothing answers there") as error, RayEngine(address):
        pass
    assert "ray start --head" in error.value.remedy
    for wrong in ("head", "head:door", ":"):
        with pytest.raises(UsageError, match="must be HOST:PORT"), RayEngine(wrong):
            pass


def transport(tmp_path, **options):
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    return RayTransport("mmcc.corpus.worker", Limits(), Shared(tmp_path), **options)


def test_a_node_that_does_not_see_the_folders_is_named(tmp_path):
    hello = Hello("node7", __version__, True, str(tmp_path))
    with pytest.raises(InputError, match="the node node7 does not see it as this machine does") as error:
        transport(tmp_path, warn=True)._welcome(0, hello)
    assert error.value.path == str(tmp_path) and "at the same path" in error.value.remedy
    with pytest.raises(UsageError, match=f"node7 has mmcc 0.0.1, this machine {__version__}"):
        transport(tmp_path, warn=True)._welcome(0, hello._replace(version="0.0.1"))


def test_people_are_warned_once_of_a_cluster_that_asks_for_no_token(tmp_path, capsys):
    hello = Hello("node7", __version__, False, "")
    given, own = transport(tmp_path, warn=True), transport(tmp_path, warn=False)
    assert given._welcome(0, hello) == given._welcome(0, hello) == own._welcome(0, hello) == Ready(0, "node7")
    assert capsys.readouterr().err.count("RAY_AUTH_MODE=token") == 1
    transport(tmp_path, warn=True)._welcome(0, hello._replace(token_required=True))
    assert not capsys.readouterr().err


def test_the_file_by_which_nodes_know_a_folder_is_removed_also_one_that_was_left(tmp_path):
    left = transport(tmp_path, warn=False)
    left.open()
    assert len(list(tmp_path.iterdir())) == 1
    after = transport(tmp_path, warn=False)
    after.open()
    assert len(list(tmp_path.iterdir())) == 1
    after.close()
    assert not list(tmp_path.iterdir())


class Stopped(BaseException):
    pass


def test_signals_wait_for_the_end_of_a_call(monkeypatch):
    """A handler that raises inside Ray would end as a SystemError."""

    def stop(*_):
        raise Stopped

    before, done = signal.signal(signal.SIGTERM, stop), []
    try:
        with pytest.raises(Stopped), signals_wait():
            signal.raise_signal(signal.SIGTERM)
            done.append("the call")
        assert done == ["the call"] and signal.getsignal(signal.SIGTERM) is stop
        with signals_wait():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as ray.init does, with a handler of its own
        assert signal.getsignal(signal.SIGTERM) is stop
        with pytest.raises(Stopped), signals_wait():
            sys.exit(signal.SIGTERM)
        with pytest.raises(Stopped), signals_wait():
            signal.raise_signal(signal.SIGTERM)
            raise ValueError("it went wrong, too")
    finally:
        signal.signal(signal.SIGTERM, before)
