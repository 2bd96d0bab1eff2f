"""Fixtures: kitchens small enough for seconds, written and ingested as a user does it."""

import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus


@pytest.fixture(scope="module")
def vectors_corpus(tmp_path_factory) -> Corpus:
    """Feature vectors of 24 videos, one a second."""
    folder = tmp_path_factory.mktemp("vectors")
    assert main(["kitchen", str(folder / "kitchen"), "--videos", "24", "--features", "--no-pixels"]) == 0
    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / "corpus"), "--features", "1"]) == 0
    return Corpus.open(folder / "corpus")


@pytest.fixture(scope="module")
def pictures_corpus(tmp_path_factory) -> Corpus:
    """Pictures of two videos, 32 pixels wide."""
    folder = tmp_path_factory.mktemp("pictures")
    assert main(["kitchen", str(folder / "kitchen"), "--videos", "2", "--size", "32", "--fps", "1"]) == 0
    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / "corpus"), "--size", "32"]) == 0
    return Corpus.open(folder / "corpus")
