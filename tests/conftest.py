"""Test data made by a real encoder: the ffmpeg command, asked for exactly the oddity a test is about."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture.providers import Constants, HypothesisProvider

PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine does not fail a test
settings.register_profile("repeatable", settings.get_profile("default"), derandomize=True, database=None, **PATIENT)
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=1000, print_blob=True, **PATIENT)
settings.load_profile("repeatable")
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background does not hear Ctrl-C

SHARED = Path(__file__).parents[1].parent / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
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


@pytest.fixture
def make_clip(tmp_path: Path) -> Callable[..., Path]:
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
        run_ffmpeg("-f", "lavfi", "-i", source, "-t", seconds, "-pix_fmt", "yuv420p", *options, path)
        return path

    return make


@pytest.fixture
def shared() -> Path:
    """The folder of real data that lies beside the repository on our machines."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared/data: this test needs the real clips and annotations")
    return SHARED
