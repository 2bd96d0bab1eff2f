"""Small corpora created the usual way: a kitchen, and feature arrays with captions."""

from collections.abc import Callable

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus


@pytest.fixture(scope="session")
def pixels(kitchens) -> Corpus:
    """Twelve videos of 48 x 48 pixels, one frame per second."""
    return Corpus.open(kitchens.kitchen_corpus(videos=12, size=48, features=True).pictures)


@pytest.fixture(scope="session")
def vectors(kitchens) -> Corpus:
    """The same videos as feature vectors."""
    return Corpus.open(kitchens.kitchen_corpus(videos=12, size=48, features=True).vectors)


def srt(captions: list[tuple[float, float, str]]) -> str:
    def clock(seconds: float) -> str:
        return f"00:{int(seconds) // 60:02d}:{int(seconds) % 60:02d},{round(seconds % 1 * 1000):03d}"

    return "\n".join(f"{at + 1}\n{clock(a)} --> {clock(b)}\n{text}\n" for at, (a, b, text) in enumerate(captions))


@pytest.fixture
def make_corpus(tmp_path) -> Callable[..., Corpus]:
    """make_corpus({"soup": (60, [(3, 5, "cut the carrot.")])}): one vector per second, and captions. Every vector holds
    its number."""

    def make(videos: dict[str, tuple[int, list[tuple[float, float, str]]]]) -> Corpus:
        source = tmp_path / "source"
        source.mkdir()
        for name, (frames, captions) in videos.items():
            np.save(source / f"{name}.npy", np.arange(frames, dtype=np.float32)[:, None].repeat(3, axis=1))
            if captions:
                (source / f"{name}.srt").write_text(srt(captions))
        main(["ingest", str(source), "-o", str(tmp_path / "corpus"), "--features", "1"])
        return Corpus.open(tmp_path / "corpus")

    return make
