"""Footage unlike a model's training data is warned of, and its own is not."""

import json
import shutil

import numpy as np
import pytest
import torch

from benchmarks.validity.domain import is_chosen
from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.media.photos import find_photos, fitted, read_photo
from mmcc.pretrained import shipped_names
from mmcc.tools.cache import Cache
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.familiar import (
    domain_of,
    domain_warnings,
    familiarity,
    fit_domain,
    picture_warnings,
    warnings_about,
)
from mmcc.tools.footage import open_footage
from mmcc.tools.model import open_model


@pytest.fixture(scope="module")
def fresh_kitchen(kitchens):
    """Videos that the shipped model has not seen: of another seed."""
    return kitchens.kitchen_corpus(videos=8, seed=7, size=48, drawn=96)


def test_kitchen_videos_pass_as_files_and_as_a_corpus(fresh_kitchen, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    files = open_footage(model, sorted((fresh_kitchen.kitchen / "videos").iterdir())[:3], cache).footage
    assert domain_warnings(model, files, cache) == []
    corpus = open_footage(model, [fresh_kitchen.pictures], cache).footage
    assert len(corpus) == 8
    assert domain_warnings(model, corpus, cache) == []


@pytest.mark.slow
def test_real_clips_are_warned_of(shared, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    clips = open_footage(model, [shared / "clips"], cache).footage
    assert len(clips) == 5
    for clip in clips:
        assert f"{clip.name}: unlike what kitchen was trained on" in domain_warnings(model, [clip], cache)[0]
    told = domain_warnings(model, clips, cache)
    assert told[0].startswith("5 of 5 videos")
    assert told[1].startswith("3 of 5 videos")  # those that have captions: words it does not know


def test_real_pictures_are_warned_of_one_by_one(shared, tmp_path):
    """Frames of YouCook2 that no figure was chosen with, and of HD-EPIC; docs/tools.md has all of them."""
    model, cache = open_model("kitchen"), Cache(tmp_path)
    folders = sorted((shared / "youcook2/frames").iterdir())
    others = [find_photos(folder)[0] for folder in folders if not is_chosen(folder.name)][:40]
    headcam = [find_photos(folder)[0] for folder in sorted((shared / "hdepic/train").iterdir())][:20]
    told = [picture_warnings(model, [fitted(read_photo(path), path, 48, "crop")], cache) for path in others + headcam]
    assert np.mean([strange for _, strange in told]) >= 0.9
    assert all(bool(line) == strange for line, strange in told)
    assert "unlike what kitchen was trained on (" in told[-1][0]


def test_single_kitchen_frames_pass(fresh_kitchen, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    videos = Corpus.open(fresh_kitchen.pictures)
    frames = [frame for video in videos for frame in video.frames(0, len(video.times))[::10]]
    assert len(frames) > 60
    assert np.mean([picture_warnings(model, [frame], cache)[1] for frame in frames]) <= 0.03


def test_nothing_to_compare_says_nothing(dawn, tmp_path):
    assert picture_warnings(dawn, [], Cache(tmp_path)) == ("", False)
    assert picture_warnings(dawn, [np.zeros((8, 8, 3), np.uint8)], Cache(tmp_path)) == ("", False)


def test_a_test_card_is_warned_of(make_clip, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    clip = make_clip("card.mp4", seconds=6, size="160x120")
    (line,) = domain_warnings(model, open_footage(model, [clip], cache).footage, cache)
    assert line.startswith("card.mp4: unlike what kitchen was trained on (")
    footage = open_footage(model, [clip], cache).footage
    assert familiarity(model, footage, cache).strange == {"card.mp4"}
    (about,) = warnings_about(model, footage[0], cache)
    assert about.startswith("Warning: this video is unlike what kitchen was trained on (")


def test_the_verb_says_it_on_stderr_and_in_json(make_clip, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    clip = make_clip("card.mp4", seconds=6, size="160x120")
    assert main(["transitions", "kitchen", str(clip), "--json"]) == 0
    told = capsys.readouterr()
    assert "unlike what kitchen was trained on" in told.err
    assert any("unlike what kitchen was trained on" in each for each in json.loads(told.out)["warnings"])


def test_too_few_training_videos_say_so(kitchen, tmp_path):
    assert fit_domain(kitchen.model(), Corpus.open(kitchen.corpus)) is None
    domain, why_not = domain_of(kitchen.model(), Cache(tmp_path))
    assert domain is None
    assert "too few" in why_not


def test_a_run_of_your_own_is_fitted_once(kitchens, tmp_path):
    run, own = tmp_path / "run", kitchens.kitchen_corpus(videos=12, size=48, features=True)
    shutil.copytree(open_model("kitchen").folder, run, ignore=shutil.ignore_patterns("manifest.json"))
    (run / "domain.npz").unlink()
    settings = {**json.loads((run / "corpus.json").read_text()), "path": str(own.pictures)}
    (run / "corpus.json").write_text(json.dumps(settings))
    cache = Cache(tmp_path / "cache")
    first, _ = domain_of(open_model(run), cache)
    (kept,) = (cache.folder / "domain").iterdir()
    stamp = kept.read_bytes()
    again, _ = domain_of(open_model(run), cache)
    np.testing.assert_array_equal(first.limits, again.limits)
    assert kept.read_bytes() == stamp
    (run / "corpus.json").write_text(json.dumps({**settings, "path": str(tmp_path / "nowhere")}))
    gone, why_not = domain_of(open_model(run), cache)
    assert gone is None
    assert "no longer exists" in why_not


def test_a_model_of_heads_is_compared_by_the_vectors_of_its_encoder(heads, tmp_path):
    model, cache = open_model(heads.run), Cache(tmp_path)
    domain, why_not = domain_of(model, cache)
    assert isinstance(domain, EmbeddingDomain) and why_not is None
    own = open_footage(model, [heads.corpus], cache).footage
    assert len(familiarity(model, own, cache).strange) <= 1
    patches = np.random.default_rng(0).choice(np.array([0, 255], np.uint8), (20, 4, 4, 3))  # gaudy, as no kitchen is
    gaudy = list(patches.repeat(8, axis=1).repeat(8, axis=2))
    told = [picture_warnings(model, [each], cache) for each in gaudy]
    vectors = model.adapter.model.frame_encoder.frozen_backbone(torch.from_numpy(np.stack(gaudy))).numpy()
    assert [strange for _, strange in told] == [domain.excess(each[None]) > 1 for each in vectors]
    assert np.mean([strange for _, strange in told]) >= 0.9
    assert all(("unlike what" in line) == strange for line, strange in told)
    line, strange = picture_warnings(model, gaudy, cache)
    assert strange and f"{domain.excess(vectors):.2f} times" in line


def test_without_the_vectors_of_its_training_data_it_says_how_to_get_them(heads, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(heads.checkpoint, run, ignore=shutil.ignore_patterns("manifest.json"))
    settings = {**json.loads((run / "corpus.json").read_text()), "path": str(heads.plain)}
    (run / "corpus.json").write_text(json.dumps(settings))
    model = open_model(run)
    domain, why_not = domain_of(model, Cache(tmp_path / "cache"))
    assert domain is None and fit_domain(model, Corpus.open(heads.plain)) is None
    assert f"mmcc embed {heads.plain} --frames {heads.encoder}" in why_not


def test_no_word_is_unknown_to_a_pretrained_text_encoder(heads, tmp_path):
    model, cache = open_model(heads.run), Cache(tmp_path)
    said = familiarity(model, open_footage(model, [heads.corpus], cache).footage, cache)
    assert not any("words spoken" in line for line in said.cautions)


@pytest.mark.slow
@pytest.mark.skipif("cook" not in shipped_names(), reason="the model of real cooking is not in this checkout")
def test_cook_knows_real_cooking_and_warns_of_other_things(shared, tmp_path):
    model, cache = open_model("cook"), Cache(tmp_path)
    names = ("flipping_a_pancake.mkv", "autoeditor_example.mp4")
    clips = open_footage(model, [shared / "clips" / name for name in names], cache).footage
    assert familiarity(model, clips, cache).strange == {"autoeditor_example.mp4"}
