"""Test data made by a real encoder: the ffmpeg command, asked for exactly the oddity a test is about."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import pytest
from hypothesis import settings

settings.register_profile("patient", settings.default, deadline=None)  # a busy machine is no failure
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background does not hear Ctrl-C

SHARED = Path(__file__).parents[1].parent / "shared" / "data"


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
