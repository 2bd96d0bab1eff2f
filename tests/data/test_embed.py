"""Encoders over a corpus by the command line: in one pass with the ingest, or afterwards."""

import json
import os
import shutil
import signal
import time
from functools import partial
from threading import Event, Thread

import numpy as np
import pytest
import torch

from mmcc.backbones import open_frame_backbone, open_text_backbone
from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Embedder, open_vectors, stored_encoders
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.corpus.publishing import staged
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.corpus.verify import verify
from mmcc.data.embed import embed, embedding_by
from mmcc.errors import UsageError
from mmcc.media.video import Sampling
from tests.backbones.exported import export
from tests.corpus.test_embeddings import COLOURS, LENGTHS, colours, lengths
from tests.forked import forked
from tests.training.test_perception import grid

CUES = "WEBVTT\n\n00:00.000 --> 00:01.500\nmelt the butter\n\n00:02.000 --> 00:03.000\nfold in the gochujang\n"


@pytest.fixture
def encoder(tmp_path):
    size = torch.zeros(1, 3, 12, 12)
    dynamic = {"pixels": {0: "P"}, "vector": {0: "P"}}
    return f"onnx:{export(tmp_path / 'grid.onnx', grid, {'pixels': size}, ['vector'], dynamic)}"


def test_ingest_and_encode_in_one_command(make_clip, tmp_path, encoder, capsys):
    make_clip("src/soup.mp4", seconds=3)
    (tmp_path / "src" / "soup.vtt").write_text(CUES)
    corpus = tmp_path / "c"
    assert main(["ingest", str(tmp_path / "src"), "-o", str(corpus), "--encode", encoder]) == 0
    said = capsys.readouterr().out
    assert f"3 frames of 1 video by {encoder}" in said and "1 utterance of 1 video by minilm" in said
    assert main(["inspect", str(corpus)]) == 0
    assert f"embeddings  minilm, {encoder}" in capsys.readouterr().out
    opened = Corpus.open(corpus)
    assert opened.manifest.size == 12, "as large as the encoder reads, unless --size says otherwise"
    (video,) = with_vectors(opened, frames=Wanted(encoder), text=Wanted("minilm"))
    pictures, texts = opened[video.id].frames(), [said.text for said in video.utterances]
    assert np.allclose(video.frames(), open_frame_backbone(encoder)(torch.from_numpy(pictures)), atol=1e-5)
    assert np.allclose(video.text_vectors, open_text_backbone("minilm").embed(texts), atol=1e-5)


@pytest.fixture
def folder(make_clip, tmp_path):
    """Five narrated clips, the longest of which is ingested first."""
    for number in range(5):
        make_clip(f"src/soup{number}.mp4", seconds=6 - number)
        (tmp_path / "src" / f"soup{number}.vtt").write_text(CUES + f"\n00:04.000 --> 00:05.000\nstep {number}\n")
    return tmp_path / "src"


def vectors_of(corpus):
    """Every vector of a corpus by encoder and video, to the bit."""
    opened = Corpus.open(corpus)
    stored = {encoder.name: open_vectors(opened, encoder) for encoder in stored_encoders(opened)}
    assert all(each.manifest.complete for each in stored.values())
    return {
        name: {video.id: (video.times.tolist(), video.frames().tobytes()) for video in each}
        for name, each in stored.items()
    }


def test_in_one_pass_or_in_two_the_vectors_are_the_same_to_the_bit(folder, tmp_path, encoder, capsys):
    (folder / "noise.mp4").write_bytes(b"no video")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert main(["ingest", str(folder), "-o", one, "--encode", encoder, "--json"]) == 4, "a bad video is skipped"
    report = json.loads(capsys.readouterr().out)
    assert report["ingested"] == 5 and [each["path"] for each in report["skipped"]] == [str(folder / "noise.mp4")]
    assert [each["videos"] for each in report["embedded"]] == [5, 5] and report["embedded"][0]["vectors"] == 20
    assert main(["ingest", str(folder), "-o", two, "--size", "12"]) == 4
    assert main(["embed", two, "--frames", encoder, "--text", "minilm"]) == 0
    assert vectors_of(one) == vectors_of(two) and len(vectors_of(one)[encoder]) == 5


@pytest.fixture
def alongside(folder, tmp_path):
    """An ingest of the clips, one at a time, that also embeds them, with functions for encoders."""

    def run(name, of_frames=colours, then=lambda embedding: embedding):
        embedders = [Embedder(COLOURS, partial(map, of_frames)), Embedder(LENGTHS, partial(map, lengths))]
        settings = IngestSettings(Sampling(size=12), encoding="raw")
        with embedding_by(tmp_path / name, embedders) as embedding:
            ingest(find_source(folder), tmp_path / name, settings, then=then(embedding))
        return embedding.finish(lambda what: lambda ids: ids)

    return run


@pytest.mark.slow
def test_in_a_bucket_they_are_published_after_the_corpus_and_are_continued(make_clip, tmp_path, s3, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    for name in ("soup", "stew"):
        make_clip(f"src/{name}.mp4", seconds=2)
    remote = s3.bucket() / "c"

    def publish(source, before):
        with embedding_by(remote, [Embedder(COLOURS, partial(map, colours))]) as embedding:
            with staged(remote) as stage:
                settings = IngestSettings(Sampling(size=12), encoding="raw")
                ingest(find_source(source), stage.folder, settings, then=embedding,
                       published=stage.published, skip_numbers=stage.skip_numbers)  # fmt: skip
                embedding.wait()
            assert vectors_of(remote).get("colours", {}).keys() == before
        return [report.videos for report in embedding.finish(lambda what: lambda ids: ids)]

    assert publish(tmp_path / "src" / "soup.mp4", set()) == [1]
    shutil.rmtree(tmp_path / "cache")  # as on another machine
    assert publish(tmp_path / "src", {"soup"}) == [1]
    found = {video.id: colours(video.frames()).tobytes() for video in Corpus.open(remote)}
    assert {key: vectors for key, (_, vectors) in vectors_of(remote)["colours"].items()} == found
    assert len(found) == 2 and not verify(remote).damaged
    assert not list((tmp_path / "cache" / "staging").rglob("shards/*.arrow")), "they are in the bucket"


@pytest.mark.slow  # loads three encoders
def test_the_commands_embed_in_a_bucket(make_clip, tmp_path, encoder, s3, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    make_clip("src/soup.mp4", seconds=3)
    (tmp_path / "src" / "soup.vtt").write_text(CUES)
    one, two, local = str(s3.bucket() / "one"), str(s3.bucket() / "two"), str(tmp_path / "local")
    for corpus in (one, local):
        assert main(["ingest", str(tmp_path / "src"), "-o", corpus, "--encode", encoder]) == 0
        assert f"{corpus}: 3 frames of 1 video by {encoder}" in capsys.readouterr().out
    assert main(["ingest", str(tmp_path / "src"), "-o", two, "--size", "12"]) == 0
    assert main(["embed", two, "--frames", encoder, "--text", "minilm"]) == 0
    assert vectors_of(one) == vectors_of(two) == vectors_of(local)


def test_a_video_is_embedded_before_the_ingest_has_ended(alongside, tmp_path):
    embedded = []

    def then(embedding):
        def one(video, report):
            embedding(video, report)
            embedding.wait()
            embedded.append(open_vectors(Corpus.open(tmp_path / "c"), COLOURS).ids)
            assert not Corpus.open(tmp_path / "c").manifest.complete

        return one

    reports = alongside("c", then=then)
    assert embedded == [[f"soup{number}" for number in range(count)] for count in range(1, 6)]
    assert [(each.videos, each.vectors, each.already_done) for each in reports] == [(5, 20, 0), (5, 10, 0)]


def test_killed_while_it_embeds_it_loses_that_video_alone_and_continues(alongside, tmp_path):
    """The third video's vectors are never finished; the process dies as by a power cut."""
    calls = []

    def dies(pictures):
        calls.append(len(pictures))
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return colours(pictures)

    assert forked(alongside, "c", dies).code == -signal.SIGKILL
    assert open_vectors(Corpus.open(tmp_path / "c"), COLOURS).ids == ["soup0", "soup1"]
    again = []
    reports = alongside("c", lambda pictures: again.append(len(pictures)) or colours(pictures))
    assert sorted(again) == [2, 3, 4] and [each.already_done for each in reports] == [2, 2]
    alongside("whole")
    assert vectors_of(tmp_path / "c") == vectors_of(tmp_path / "whole")
    assert [each.videos for each in alongside("c", lambda pictures: 1 / 0)] == [0, 0], "nothing is done twice"


def test_what_fails_in_the_encoder_stops_the_ingest_and_what_is_done_is_kept(alongside, tmp_path):
    calls = []

    def fails(pictures):
        calls.append(len(pictures))
        if len(calls) == 2:
            raise UsageError("vectors with NaN")
        return colours(pictures)

    with pytest.raises(UsageError, match="NaN"):
        alongside("c", fails)
    vectors = open_vectors(Corpus.open(tmp_path / "c"), COLOURS)
    assert "soup0" in vectors and "soup1" not in vectors and not vectors.manifest.complete


def test_a_stopped_ingest_does_not_wait_for_the_rest(alongside, tmp_path):
    calls, begun, stopped = [], Event(), Event()

    def slow(pictures):
        calls.append(len(pictures))
        begun.set()
        stopped.wait(120)
        return colours(pictures)

    def go_on_when_told_to_stop(embedding):
        while not embedding._stopped:
            time.sleep(0.001)
        stopped.set()

    def then(embedding):
        def one(video, report):
            embedding(video, report)
            if video.id == "soup3":
                begun.wait(120)
                Thread(target=go_on_when_told_to_stop, args=[embedding], daemon=True).start()
                raise KeyboardInterrupt

        return one

    with pytest.raises(KeyboardInterrupt):
        alongside("c", slow, then)
    assert calls == [6], "of the first video, whose vectors nobody waits for"
    assert open_vectors(Corpus.open(tmp_path / "c"), COLOURS).ids == []
    assert [each.videos for each in alongside("c")] == [5, 5]


def test_vectors_are_finite_or_refused(make_clip, tmp_path):
    make_clip("src/soup.mp4", seconds=2)
    assert main(["ingest", str(tmp_path / "src"), "-o", str(tmp_path / "c"), "--size", "12"]) == 0
    size, dynamic = torch.zeros(1, 3, 12, 12), {"pixels": {0: "P"}, "vector": {0: "P"}}
    path = export(tmp_path / "nan.onnx", lambda x: grid(x) * torch.nan, {"pixels": size}, ["vector"], dynamic)
    with pytest.raises(UsageError, match="NaN or Inf"):
        embed(Corpus.open(tmp_path / "c"), frames=[f"onnx:{path}"])


def test_encode_is_not_for_features(tmp_path, encoder, capsys):
    (tmp_path / "src").mkdir()
    words = ["ingest", str(tmp_path / "src"), "-o", str(tmp_path / "c"), "--features", "1", "--encode", encoder]
    assert main(words) == 2 and "features are encoded already" in capsys.readouterr().err
