"""What all tests share: one thread each, clips by a real encoder, kitchens kept on disk, models trained once.

Nothing here loads torch before a test needs it: fixtures import what they use.
"""

import gc
import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch look: nets this small run fastest so, and workers share

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import imageio_ffmpeg
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture.providers import Constants, HypothesisProvider

from mmcc.corpus import Corpus
from tests.heads import Heads, make_heads
from tests.kitchens import KitchenStore
from tests.s3 import Server, credentials, running
from tests.torchless import Torchless
from tests.two_processes import TwoProcesses

PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine does not fail a test
settings.register_profile("repeatable", settings.get_profile("default"), derandomize=True, database=None, **PATIENT)
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=1000, print_blob=True, **PATIENT)
settings.load_profile("repeatable")
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background does not hear Ctrl-C

TESTS = Path(__file__).parent
SHARED = TESTS.parents[1] / "shared" / "data"
LONGEST_FIRST = (  # folders and files, so that no worker ends long after others
    *("reproduce", "corpus/test_ingest.py", "training", "tools", "demo", "test_docs.py", "benchmarks", "kitchen"),
    *("report", "test_extensions.py", "test_api.py", "cli", "corpus", "evaluation", "media", "objectives"),
)
SLOW_FIRST = (  # the same for the slow tests, of which other files are the longest
    *("engines", "benchmarks/reliability/test_faults.py", "benchmarks/validity", "app", "reproduce"),
    *("benchmarks", "demo", "training", "test_docs.py", "cli", "corpus"),
)
TOGETHER = {  # files that share a fixture that takes seconds run in one worker
    "finished": (
        "evaluation/test_evaluate.py",
        "evaluation/test_evaluator.py",
        "evaluation/test_tasks.py",
        "reproduce/test_reproduce.py",
        "scripts/test_results_page.py",
    ),
    "heads": (
        "tools/test_described.py",
        "tools/test_familiar.py",
        "tools/test_stored.py",
        "tools/test_unshuffle.py",
        "scripts/test_publish_model.py",
    ),
    "made": ("demo/test_demo.py", "report/test_model_report.py"),
    "two_processes": ("objectives/test_distribution.py", "training/test_processes.py"),
}
LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object):
    """Whole files to the next idle worker, some of them together: fixtures of a file are made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::")[0]
            return next((name for name, files in TOGETHER.items() if path.endswith(files)), path)

    config.option.loadscopereorder = False
    return ByFile(config, log) if config.option.dist == "load" else None


def pytest_deselected(items: list[pytest.Item]) -> None:
    config = items[0].config
    if config.option.markexpr == "not slow" and not config.option.keyword:  # the default: nobody chose by -m or -k
        slow = sum(item.get_closest_marker("slow") is not None for item in items)
        config.stash[LEFT_OUT] = config.stash.get(LEFT_OUT, 0) + slow


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a worker of xdist
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Every worker collects all tests, so each leaves out the same ones; one that crashed does not say how many."""
    told = getattr(node, "workeroutput", {}).get("left_out", 0)
    node.config.stash[LEFT_OUT] = max(told, node.config.stash.get(LEFT_OUT, 0))


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        tests = "1 slow test was" if count == 1 else f"{count} slow tests were"
        terminalreporter.write_line(f"{tests} left out: make test-slow runs them (pytest -m slow)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose_examples(items)
    first = SLOW_FIRST if config.option.markexpr == "slow" else LONGEST_FIRST
    rank = {TESTS / name: place for place, name in enumerate(first)}

    def place(item: pytest.Item) -> int:
        return min((rank[path] for path in (item.path, *item.path.parents) if path in rank), default=len(rank))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    gc.freeze()  # half a million objects that stay: each look at them takes a quarter of a second


def choose_examples(items: list[pytest.Item]) -> None:
    """By default the same examples every time; under `fuzz` a thousand new ones, however few a test asks for."""
    profile = settings.get_current_profile_name()
    if profile == "repeatable":
        HypothesisProvider._local_constants = Constants()  # else it also draws numbers that the loaded modules mention
    for item in items:
        if profile == "fuzz" and isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            own = item.obj._hypothesis_internal_use_settings
            most = max(own.max_examples, settings.default.max_examples)
            item.obj._hypothesis_internal_use_settings = settings(own, max_examples=most)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """What a test draws from torch's own generator is the same whichever tests ran before it."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def run_ffmpeg(*arguments: object) -> None:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


@pytest.fixture
def ffmpeg() -> Callable[..., None]:
    """Run ffmpeg with the given arguments; a failure shows what it said."""
    return run_ffmpeg


@pytest.fixture(scope="session")
def clips_so_far(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The clip of some of ffmpeg's arguments, encoded when it is first asked for."""
    folder = tmp_path_factory.mktemp("clips_so_far")

    @cache
    def clip(suffix: str, *arguments: str) -> Path:
        path = folder / f"{len(list(folder.iterdir()))}{suffix}"
        run_ffmpeg(*arguments, path)
        return path

    return clip


@pytest.fixture
def make_clip(tmp_path: Path, clips_so_far: Callable[..., Path]) -> Callable[..., Path]:
    """make_clip("soup.mp4", seconds=3): a small H.264 test card, or what the options say."""

    def make(
        name: str,
        *options: object,
        seconds: float = 3,
        rate: object = 10,
        size: str = "64x48",
        picture: str = "testsrc2=size={size}:rate={rate}",
    ) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = picture.format(size=size, rate=rate)
        arguments = ["-f", "lavfi", "-i", source, "-t", seconds, "-pix_fmt", "yuv420p", *options]
        if "-i" in options:  # another file, which a test may change
            run_ffmpeg(*arguments, path)
        else:
            shutil.copyfile(clips_so_far(path.suffix, *map(str, arguments)), path)
        return path

    return make


@pytest.fixture
def shared() -> Path:
    """The folder of real data that lies beside the repository on our machines."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared/data: this test needs the real clips and annotations")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the cache of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MMCC_CACHE", str(tmp_path_factory.mktemp("mmcc_cache")))
        yield


@pytest.fixture(scope="session")
def s3() -> Iterator[Server]:
    """s3.bucket(): a new bucket of a server that speaks S3, in a process of its own."""
    with credentials(), running() as server:
        yield server


@pytest.fixture(scope="session")
def kitchens(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KitchenStore]:
    """kitchens.kitchen_corpus(videos=8, size=32): drawn once, for this run and later ones. Not to be written into."""
    kept = getattr(request.config, "cache", None)  # none with -p no:cacheprovider
    store = KitchenStore(kept.mkdir("kitchens") if kept else tmp_path_factory.getbasetemp() / "kitchens")
    yield store
    store.check_unchanged()


@pytest.fixture(scope="session")
def vectors_path(kitchens: KitchenStore) -> Path:
    """Feature vectors of 24 kitchen videos, some of them for validation."""
    return kitchens.kitchen_corpus(videos=24, features=True).vectors


@pytest.fixture(scope="session")
def vectors_corpus(vectors_path: Path) -> Corpus:
    """The same, opened."""
    return Corpus.open(vectors_path)


@pytest.fixture(scope="session")
def pictures_corpus(kitchens: KitchenStore) -> Corpus:
    """Pictures of eight videos, 32 pixels wide."""
    return Corpus.open(kitchens.kitchen_corpus(videos=8, size=32).pictures)


@pytest.fixture(scope="session")
def pictures(kitchens: KitchenStore) -> Path:
    """Ten videos of one task, 32 pixels wide; two of them held out."""
    return kitchens.kitchen_corpus(videos=10, tasks=1, size=32).pictures


@pytest.fixture(scope="session")
def steps_corpus(kitchens: KitchenStore) -> Path:
    """Vectors of 60 kitchen videos of 3 primary tasks and a related one, 12 of them held out."""
    return kitchens.kitchen_corpus(videos=60, tasks=3, features=True).vectors


@pytest.fixture(scope="session")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus without steps."""
    from tests.reproduce.tiny_reproduction import own_videos

    return own_videos(tmp_path_factory.mktemp("unlabelled"), dims=256)


@pytest.fixture(scope="session")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Weights like torchvision's, of a seed, in a file."""
    import torch
    from safetensors.torch import save_file

    from mmcc.models.resnet import ResNet18

    folder = tmp_path_factory.mktemp("weights")

    def write(seed: int) -> Path:
        torch.manual_seed(seed)
        save_file(ResNet18().state_dict(), folder / f"resnet18-{seed}.safetensors")
        return folder / f"resnet18-{seed}.safetensors"

    return write


@pytest.fixture
def pictures_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not enlarged for networks of ImageNet: nine times as fast, where it is not about what they see."""
    monkeypatch.setattr("mmcc.evaluation.features_only.enlarge", lambda frames, pixels: frames)


@pytest.fixture(scope="session")
def finished(steps_corpus: Path, tmp_path_factory: pytest.TempPathFactory):
    """Tables 2 to 4 and transfer, of one seed: the folder, and what was found."""
    from mmcc.reproduce.reproduce import reproduce
    from tests.reproduce.tiny_reproduction import TINY

    out = tmp_path_factory.mktemp("finished") / "out"
    return out, reproduce(["table2", "table3", "table4", "transfer"], steps_corpus, out, budget=TINY, seeds=1)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory):
    """A whole demo, of next to no size: the kitchen, two runs, their figures, the page."""
    from tests.demo.tiny_demo import Made

    found = Made(tmp_path_factory.mktemp("demo") / "out")
    found.results = found.run()
    found.first_said = list(found.said)
    return found


@pytest.fixture(scope="session")
def kitchen_footage(kitchens: KitchenStore, tmp_path_factory: pytest.TempPathFactory):
    """Kitchen videos as files with captions beside them, and a small model that has seen such ones."""
    from tests.tools.kitchen_footage import trained_on

    return trained_on(kitchens.kitchen_corpus(videos=8, size=32), tmp_path_factory.mktemp("kitchen_footage"))


@pytest.fixture
def kitchen(kitchen_footage, monkeypatch: pytest.MonkeyPatch):
    """The same; what is asked about it is kept for later tests."""
    monkeypatch.setenv("MMCC_CACHE", str(kitchen_footage.cache))
    return kitchen_footage


@pytest.fixture(scope="session")
def heads(kitchens: KitchenStore, tmp_path_factory: pytest.TempPathFactory) -> Heads:
    """A model of heads on frozen encoders, the corpus it was trained on, and the same corpus without vectors."""
    return make_heads(kitchens, tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="session")
def without_torch() -> Iterator[Torchless]:
    """without_torch.mmcc("search", …): how a command ends where torch cannot be imported."""
    process = Torchless()
    yield process
    process.close()


@pytest.fixture(scope="session")
def two_processes() -> Iterator[TwoProcesses]:
    """two_processes.run(job, …): job(0, …) and job(1, …) at the same time, each in its process."""
    pair = TwoProcesses()
    yield pair
    pair.end()
