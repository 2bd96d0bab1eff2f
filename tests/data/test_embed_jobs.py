"""What an engine's workers embed is, to the bit, what this process embeds."""

import pytest
import torch

from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import open_vectors, stored_encoders
from mmcc.corpus.find import find_source
from mmcc.corpus.format import shard_path
from mmcc.corpus.index import open_index
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.data import embed_jobs
from mmcc.data.embed import embed
from mmcc.engines.local import LocalEngine
from mmcc.errors import InputError
from mmcc.media.video import Sampling
from tests.backbones.exported import export
from tests.corpus.ingesting import SRT, content
from tests.training.test_perception import grid


@pytest.fixture
def corpora(make_clip, tmp_path):
    """The same three videos, twice."""
    for number in range(3):
        make_clip(f"src/soup{number}.mp4", seconds=2 + number)
        (tmp_path / f"src/soup{number}.srt").write_text(SRT)
    for name in ("here", "there"):
        ingest(find_source(tmp_path / "src"), tmp_path / name, IngestSettings(Sampling(size=16)))
    return tmp_path / "here", tmp_path / "there"


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    """Named by a file of the folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    dynamic = {"pixels": {0: "P"}, "vector": {0: "P"}}
    export(tmp_path / "grid.onnx", grid, {"pixels": torch.zeros(1, 3, 12, 12)}, ["vector"], dynamic)
    return "onnx:grid.onnx"


def vectors_of(corpus):
    opened = Corpus.open(corpus)
    return {encoder.name: content(open_vectors(opened, encoder).path) for encoder in stored_encoders(opened)}


@pytest.mark.slow
@pytest.mark.parametrize("shard_bytes", [0, 1 << 20])
def test_workers_embed_the_same_bits(corpora, encoder, monkeypatch, shard_bytes):
    monkeypatch.setattr(embed_jobs, "SHARD_BYTES", shard_bytes)  # 0: each video in a shard of its own
    here, there = corpora
    (local,) = embed(Corpus.open(here), frames=[encoder], fps=0.5)
    (by_engine,) = embed(Corpus.open(there), frames=[encoder], fps=0.5, engine=LocalEngine(1))
    assert by_engine == local and local.videos == 3
    assert vectors_of(there) == vectors_of(here)
    (folder,) = (there / "embeddings").iterdir()
    assert len(list((folder / "shards").iterdir())) == (1 if shard_bytes else 3)
    (again,) = embed(Corpus.open(there), frames=[encoder], fps=0.5, engine=LocalEngine(1))
    assert (again.videos, again.already_done) == (0, 3)


def test_a_video_that_fails_is_named_and_the_others_are_kept(corpora, encoder):
    here, there = corpora
    corpus, rows = Corpus.open(there), open_index(there)[1].to_pylist()
    (last,) = (row["batches"][-1] for row in rows if row["id"] == "soup2")
    shard = shard_path(there, 0)
    damaged = bytearray(shard.read_bytes())
    damaged[last["offset"] + last["length"] - 9] ^= 1
    shard.write_bytes(damaged)
    with pytest.raises(InputError, match=r"soup2: could not be embedded: .*checksum"):
        embed(corpus, frames=[encoder], engine=LocalEngine(1))
    embed(Corpus.open(here), frames=[encoder])
    expected = vectors_of(here)["onnx:grid.onnx"]
    assert vectors_of(there)["onnx:grid.onnx"] == {name: expected[name] for name in ("soup0", "soup1")}
