"""Footage unlike a model's training data is warned of, and its own is not."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.tools.cache import Cache
from mmcc.tools.domain import (
    Domain,
    domain_of,
    domain_warning,
    domain_warnings,
    fit_domain,
    load_domain,
    looks,
    save_domain,
)
from mmcc.tools.footage import open_footage
from mmcc.tools.model import open_model

RIDGE = 0.03


def distance_by_hand(domain, looks_nK):
    """The equation, with an inverse in place of a solver."""
    apart = (np.mean(looks_nK, axis=0) - domain.mean) / domain.spread
    covariance = domain.between + domain.within / len(looks_nK) + RIDGE * np.eye(len(apart))
    return np.sqrt(apart @ np.linalg.inv(covariance) @ apart / len(apart))


@pytest.fixture
def videos():
    """Looks of 60 videos of three figures: videos differ, and their frames do."""
    random = np.random.default_rng(0)
    return [random.normal(size=3) + 0.3 * random.normal(size=(20, 3)) for _ in range(60)]


def test_equals_the_equation(videos):
    domain = Domain.fit(videos[:40], videos[40:])
    for looks_nK in (videos[50], videos[3][:1], videos[7][:5] + 4):
        assert domain.distance(looks_nK) == pytest.approx(distance_by_hand(domain, looks_nK))


def test_by_hand_in_one_figure():
    domain = Domain(
        np.array([2.0]), np.array([0.5]), np.array([[0.6]]), np.array([[0.4]]), threshold=1.0, threshold_of_few=2.0
    )
    # (3 - 2) / 0.5 = 2 apart; 0.6 + 0.4 / 4 + 0.03 = 0.73
    assert domain.distance(np.array([[2.5], [3.5], [2.0], [4.0]])) == pytest.approx(2 / np.sqrt(0.73))


def test_the_threshold_lets_held_out_videos_pass_and_stops_others(videos):
    domain = Domain.fit(videos[:40], videos[40:])
    passed = [domain.distance(looks_nK) <= domain.threshold for looks_nK in videos[40:]]
    assert np.mean(passed) >= 0.95
    assert domain.distance(videos[50] + 6) > domain.threshold
    alone = [domain.distance(looks_nK[:1]) <= domain.limit(1) for looks_nK in videos[40:]]
    assert np.mean(alone) >= 0.9
    assert (domain.limit(3), domain.limit(4)) == (domain.threshold_of_few, domain.threshold)


def test_few_frames_are_judged_more_mildly(videos):
    domain = Domain.fit(videos[:40], videos[40:])
    odd = np.full((1, 3), 3.0)
    assert domain.distance(odd) < domain.distance(np.repeat(odd, 20, axis=0))


def test_it_is_the_same_after_a_rest(videos, tmp_path):
    domain = Domain.fit(videos[:40], videos[40:])
    again = Domain.from_answer(domain.to_answer())
    assert again.distance(videos[0]) == pytest.approx(domain.distance(videos[0]), rel=1e-4)
    assert (again.threshold, again.threshold_of_few) == (domain.threshold, domain.threshold_of_few)
    save_domain(domain, tmp_path / "domain.npz")
    assert load_domain(tmp_path / "domain.npz").limit(1) == domain.limit(1)
    (tmp_path / "domain.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"domain\.npz: cannot be read"):
        load_domain(tmp_path / "domain.npz")


def test_looks_of_plain_pictures():
    plain = np.zeros((2, 48, 48, 3), np.uint8)
    plain[1] = (255, 0, 0)
    black, red = looks(plain)
    assert len(black) == len(red) == 42
    np.testing.assert_allclose(looks(np.full((1, 48, 48, 3), 255, np.uint8))[0, -8:], [0] * 7 + [1])  # one shade
    np.testing.assert_allclose(black[:7], 0)  # means and spreads of the colours, saturation
    np.testing.assert_allclose(red[:7], [1, 0, 0, 0, 0, 0, 1], atol=1e-6)
    assert np.isfinite(looks(plain)).all()


@pytest.fixture(scope="module")
def fresh_kitchen(kitchens):
    """Videos that the shipped model has not seen: of another seed."""
    return kitchens.kitchen_corpus(videos=12, seed=7, size=48, drawn=96)


def test_kitchen_videos_pass_as_files_and_as_a_corpus(fresh_kitchen, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    files = open_footage(model, sorted((fresh_kitchen.kitchen / "videos").iterdir())[:3], cache).footage
    assert domain_warnings(model, files, cache) == []
    corpus = open_footage(model, [fresh_kitchen.pictures], cache).footage
    assert len(corpus) == 12
    assert domain_warnings(model, corpus, cache) == []


def test_real_clips_are_warned_of(shared, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    clips = open_footage(model, [shared / "clips"], cache).footage
    assert len(clips) == 5
    for clip in clips:
        assert f"{clip.name}: unlike what kitchen was trained on" in domain_warnings(model, [clip], cache)[0]
    told = domain_warnings(model, clips, cache)
    assert told[0].startswith("5 of 5 videos")
    assert told[1].startswith("3 of 5 videos")  # those that have captions: words it does not know


def test_real_photos_are_warned_of(shared, tmp_path):
    model = open_model("kitchen")
    for folder in sorted((shared / "photos").iterdir()):
        photos = [Image.open(path).convert("RGB").resize((144, 144)) for path in sorted(folder.glob("*.jpg"))]
        assert domain_warning(model, [np.array(photo) for photo in photos], Cache(tmp_path)), folder


def test_a_test_card_is_warned_of(make_clip, tmp_path):
    model, cache = open_model("kitchen"), Cache(tmp_path)
    clip = make_clip("card.mp4", seconds=6, size="160x120")
    (line,) = domain_warnings(model, open_footage(model, [clip], cache).footage, cache)
    assert line.startswith("card.mp4: unlike what kitchen was trained on (distance ")


def test_the_verb_says_it_on_stderr_and_in_json(make_clip, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    clip = make_clip("card.mp4", seconds=6, size="160x120")
    assert main(["transitions", "kitchen", str(clip), "--json"]) == 0
    told = capsys.readouterr()
    assert "unlike what kitchen was trained on" in told.err
    assert "unlike what kitchen was trained on" in json.loads(told.out)["warnings"][0]


def test_too_few_training_videos_say_so(kitchen, tmp_path):
    assert fit_domain(Corpus.open(kitchen.corpus), 0.05, 32) is None
    domain, why_not = domain_of(kitchen.model(), Cache(tmp_path))
    assert domain is None
    assert "too few" in why_not


def test_a_run_of_your_own_is_fitted_once(kitchens, tmp_path):
    run, own = tmp_path / "run", kitchens.kitchen_corpus(videos=12, size=48, features=True)
    shutil.copytree(open_model("kitchen").folder, run)
    (run / "domain.npz").unlink()
    settings = {**json.loads((run / "corpus.json").read_text()), "path": str(own.pictures)}
    (run / "corpus.json").write_text(json.dumps(settings))
    cache = Cache(tmp_path / "cache")
    first, _ = domain_of(open_model(run), cache)
    (kept,) = (cache.folder / "domain").iterdir()
    stamp = kept.read_bytes()
    again, _ = domain_of(open_model(run), cache)
    assert (first.threshold, kept.read_bytes()) == (again.threshold, stamp)
    (run / "corpus.json").write_text(json.dumps({**settings, "path": str(tmp_path / "nowhere")}))
    gone, why_not = domain_of(open_model(run), cache)
    assert gone is None
    assert "no longer exists" in why_not
