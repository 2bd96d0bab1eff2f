"""Video files, folders and corpora, in any mix: decoded once, embedded once, and what is bad is named."""

import shutil

import numpy as np
import pytest
import torch

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.source import Skipped
from mmcc.errors import InputError
from mmcc.evaluation.embedding import embed_videos
from mmcc.tools.cache import Cache
from mmcc.tools.footage import Footage, all_skipped, at_size, open_footage, skipped_for, stored_size
from mmcc.tools.model import open_model
from tests.tools.kitchen_footage import SMALL, train


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "cache")


def decoded(cache: Cache) -> list[str]:
    return sorted(path.name for path in (cache.folder / "footage").glob("*"))


def test_a_file_a_folder_and_a_corpus_in_one_question(kitchen, cache):
    model, folder = kitchen.model(), kitchen.videos[0].parent
    opened = open_footage(model, [kitchen.videos[0], folder, kitchen.corpus], cache)
    names = [footage.name for footage in opened.footage]
    assert names == [path.name for path in sorted(kitchen.videos)] + Corpus.open(kitchen.corpus).ids
    assert opened.skipped == []
    assert len(decoded(cache)) == 3  # the file is one of the folder's: not decoded again


def test_names_are_as_long_as_it_takes_to_tell_videos_apart(kitchen, cache, tmp_path):
    for folder in ("x/a", "x/b", "y/b"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy2(kitchen.videos[0], tmp_path / folder / "v.mp4")
    copied = shutil.copytree(kitchen.corpus, tmp_path / "again.corpus")
    files = [tmp_path / folder / "v.mp4" for folder in ("x/a", "x/b", "y/b")]
    opened = open_footage(kitchen.model(), [*files, kitchen.videos[0], kitchen.corpus, copied], cache).footage
    first, *_ = ids = Corpus.open(copied).ids
    assert [each.name for each in opened[:4]] == ["a/v.mp4", "x/b/v.mp4", "y/b/v.mp4", kitchen.videos[0].name]
    assert opened[4].name == f"{kitchen.corpus.name}:{first}" and opened[4 + len(ids)].name == f"again.corpus:{first}"
    assert [each.full_path for each in opened[:3]] == list(map(str, files))
    assert opened[-1].full_path == f"{copied}:{ids[-1]}"


def test_a_file_is_decoded_once_until_it_changes(kitchen, cache, tmp_path):
    video = shutil.copy(kitchen.videos[0], tmp_path / "soup.mp4")
    first = open_footage(kitchen.model(), [video], cache).footage[0]
    stamp = (first.corpus.path / "manifest.json").stat().st_mtime_ns
    again = open_footage(kitchen.model(), [video], cache).footage[0]
    assert again.key == first.key
    assert (again.corpus.path / "manifest.json").stat().st_mtime_ns == stamp
    shutil.copy(kitchen.videos[1], video)
    assert open_footage(kitchen.model(), [video], cache).footage[0].key != first.key


def test_cached_footage_that_is_damaged_or_lost_is_read_again(kitchen, cache, tmp_path):
    video = shutil.copy(kitchen.videos[0], tmp_path / "soup.mp4")
    first = open_footage(kitchen.model(), [video], cache).footage[0]
    before, kept = first.video.frames().tobytes(), first.corpus.path
    for damaged in (kept / "manifest.json", *(kept / "index").iterdir()):
        damaged.write_bytes(damaged.read_bytes()[:-9])
        assert open_footage(kitchen.model(), [video], cache).footage[0].video.frames().tobytes() == before
    shutil.rmtree(kept / "shards")
    assert open_footage(kitchen.model(), [video], cache).footage[0].video.frames().tobytes() == before


def test_captions_beside_a_video_are_found(kitchen, cache):
    with_words, _, without = open_footage(kitchen.model(), kitchen.videos, cache).footage
    said = with_words.video.utterances[0]
    assert with_words.said_at((said.start + said.end) / 2) == said.text
    assert without.video.utterances == []
    assert without.said_at(3.0) == ""


def test_what_is_said_at_a_time_is_the_nearest_within_two_seconds(make_clip, cache):
    clip = make_clip("soup.mp4", seconds=2)
    captions = "WEBVTT\n\n00:10.000 --> 00:12.000\nadd the flour\n\n00:30.000 --> 00:31.000\nstir\n"
    clip.with_suffix(".vtt").write_text(captions)
    (footage,) = open_footage(open_model("kitchen"), [clip], cache).footage
    assert [footage.said_at(time) for time in (7.9, 8.1, 11, 13.9, 14.1, 27.9, 28.1)] == [
        "", "add the flour", "add the flour", "add the flour", "", "", "stir",
    ]  # fmt: skip


def test_stills_are_large_enough_to_look_at_and_a_multiple_of_what_the_model_reads(kitchen, cache):
    model = kitchen.model()
    (footage,) = open_footage(model, kitchen.videos[:1], cache).footage
    still = footage.still(0)
    assert still.shape == (stored_size(model),) * 2 + (3,)
    assert stored_size(model) >= 144
    assert stored_size(model) % model.size == 0


def averaged_by_hand(picture, side):
    """Mean of each block of pixels, one at a time."""
    factor = len(picture) // side
    out = np.zeros((side, side, 3), np.uint8)
    for y in range(side):
        for x in range(side):
            block = picture[y * factor : (y + 1) * factor, x * factor : (x + 1) * factor]
            out[y, x] = np.round(block.astype(float).mean(axis=(0, 1)))
    return out


def test_pictures_are_averaged_down():
    pictures = np.random.default_rng(0).integers(0, 256, (2, 12, 12, 3), np.uint8)
    found = at_size(torch.from_numpy(pictures), 4).numpy()
    for picture, small in zip(pictures, found, strict=True):
        np.testing.assert_array_equal(small, averaged_by_hand(picture, 4))
    wide = torch.zeros(1, 12, 24, 3, dtype=torch.uint8)
    assert at_size(wide, 4).shape == (1, 4, 8, 3)
    assert at_size(wide, 12) is wide
    assert at_size(wide, 24).shape == (1, 24, 48, 3)


def test_a_file_looks_to_the_model_as_its_corpus_does(kitchen, cache):
    model, corpus = kitchen.model(), Corpus.open(kitchen.corpus)
    (footage,) = open_footage(model, kitchen.videos[:1], cache).footage
    via = footage.embedded(model, cache)
    (direct,) = embed_videos(model.adapter, corpus, [footage.video.id])
    np.testing.assert_allclose(via.times, direct.times)
    assert (via.frames.pi * direct.frames.pi).sum(dim=1).mean() > 0.98
    torch.testing.assert_close(via.utterances.pi, direct.utterances.pi)
    np.testing.assert_array_equal(via.text_times, direct.text_times)


def test_a_corpus_is_embedded_as_evaluation_does_it(kitchen, cache):
    model, corpus = kitchen.model(), Corpus.open(kitchen.corpus)
    footage = open_footage(model, [kitchen.corpus], cache).footage[1]
    (direct,) = embed_videos(model.adapter, corpus, [footage.name])
    found = footage.embedded(model, cache)
    torch.testing.assert_close(found.frames.z, direct.frames.z)
    assert (found.steps, found.tasks) == (direct.steps, direct.tasks)


QUESTION = """
import sys
from pathlib import Path
from mmcc.tools.cache import Cache
from mmcc.tools.familiar import domain_warnings
from mmcc.tools.footage import open_footage
from mmcc.tools.model import open_model
model, cache = open_model("kitchen"), Cache.default()
opened = open_footage(model, [Path(sys.argv[1])], cache)
print(opened.footage[0].embedding(model, cache).arrays["pi"].shape, opened.footage[0].still(0).shape)
domain_warnings(model, opened.footage, cache)
"""


def test_the_second_question_loads_no_torch(kitchen, without_torch, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    assert "torch is out of reach" in without_torch.run(QUESTION, kitchen.videos[0]).err
    monkeypatch.setattr("sys.argv", ["-c", str(kitchen.videos[0])])
    exec(QUESTION, {})
    first, second = capsys.readouterr(), without_torch.run(QUESTION, kitchen.videos[0])
    assert first.out and (second.code, second.out, second.err) == (0, first.out, "")


def test_bad_files_are_skipped_with_a_reason(kitchen, cache, tmp_path):
    (tmp_path / "notes.mp4").write_text("no video at all")
    (tmp_path / "empty").mkdir()
    assert len(open_footage(kitchen.model(), [tmp_path, kitchen.videos[0], tmp_path], cache).skipped) == 1
    sources = [tmp_path / "gone.mp4", tmp_path / "notes.mp4", tmp_path / "empty", kitchen.videos[0]]
    opened = open_footage(kitchen.model(), sources, cache)
    assert [footage.name for footage in opened.footage] == [kitchen.videos[0].name]
    reasons = dict(opened.skipped)
    assert "no such file" in reasons[str(sources[0])]
    assert reasons[str(sources[1])]
    assert "has no videos" in reasons[str(sources[2])]
    assert len(decoded(cache)) == 1  # a failure is not kept


@pytest.mark.parametrize("name", ["gone.mp4", "notes.mp4", "empty", "notes.txt"])
def test_nothing_usable_is_refused(cache, tmp_path, name):
    (tmp_path / "notes.mp4").write_text("no video at all")
    (tmp_path / "notes.txt").write_text("no video at all")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        open_footage(open_model("kitchen"), [tmp_path / name], cache)


def test_the_only_source_is_refused_with_its_cause_and_its_remedy_apart(cache, tmp_path):
    with pytest.raises(InputError) as refused:
        open_footage(open_model("kitchen"), [tmp_path / "gone.mp4"], cache)
    assert (refused.value.cause, refused.value.remedy) == ("no such file or folder", "Check the path.")


@pytest.mark.parametrize(
    ("others", "said"), [(0, ""), (1, "1 other input was skipped too."), (3, "3 other inputs were skipped too.")]
)
def test_if_nothing_can_be_used_the_first_reason_and_the_number_of_others_are_reported(others, said):
    error = all_skipped([Skipped("soup.mp4", "is empty. "), *[Skipped("tea.mp4", "is empty")] * others])
    assert (error.path, error.cause, error.remedy) == ("soup.mp4", "is empty", said)


@pytest.mark.parametrize("verb", ["transitions", "cycles"])
def test_a_fault_of_the_model_is_not_blamed_on_the_video(kitchen, tmp_path, monkeypatch, capsys, verb):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    run = shutil.copytree(kitchen.run, tmp_path / "run")
    for weights in run.glob("checkpoints/*/model.safetensors"):
        weights.write_bytes(b"no weights")
    capsys.readouterr()
    assert main([verb, str(run), *map(str, kitchen.videos[:2])]) == 3
    cause, *_ = capsys.readouterr().err.splitlines()
    assert cause.startswith(f"mmcc: {run}") and "model.safetensors: " in cause and ".mp4" not in cause


def test_only_a_fault_of_the_video_or_its_corpus_skips_it(kitchen):
    footage = kitchen.footage()[0]
    of_video = skipped_for(InputError(footage.name, "is too short", "Lower --gap."), footage)
    assert of_video == Skipped(footage.name, "is too short. Lower --gap.")
    shard = footage.corpus.path / "shards" / "00000.arrow"
    assert skipped_for(InputError(shard, "is gone"), footage) == Skipped(footage.name, f"{shard}: is gone.")
    with pytest.raises(InputError, match="vocabulary"):
        skipped_for(InputError(kitchen.run / "vocabulary.txt", "is gone"), footage)


def test_no_sources_at_all_are_refused(kitchen, cache):
    with pytest.raises(InputError, match="no videos given"):
        open_footage(kitchen.model(), [], cache)


def test_a_model_of_vectors_looks_at_no_pictures_and_the_other_way_round(kitchen, vectors_path, cache, tmp_path):
    run = train(vectors_path, tmp_path / "run", **SMALL)
    model = open_model(run)
    assert model.feature_dims
    for source in (kitchen.videos[0], kitchen.corpus):
        with pytest.raises(InputError, match="expects vectors of"):
            open_footage(model, [source], cache)
    with pytest.raises(InputError, match="contains feature vectors, but"):
        open_footage(kitchen.model(), [vectors_path], cache)
    footage: Footage = open_footage(model, [vectors_path], cache).footage[0]
    assert footage.still(0) is None
    assert len(footage.embedded(model, cache).frames.pi) == len(footage.video.times)


def test_no_place_to_keep_footage_is_said(kitchen, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "file"))
    capsys.readouterr()
    assert main(["transitions", str(kitchen.run), str(kitchen.videos[0])]) == 3
    cause, remedy = capsys.readouterr().err.splitlines()
    assert cause.startswith("mmcc: ") and cause.endswith("cannot be written: Not a directory")
    assert remedy == "      Set MMCC_CACHE to a folder you can write to."
