"""Photos and segments in order: as the evaluation does it, whatever their names, with what cannot be read left out."""

import json
import math
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from mmcc.cli.exit_codes import EXIT_BAD_INPUT, EXIT_OK, EXIT_SKIPPED, EXIT_USAGE
from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.evaluation.embedding import embed_videos
from mmcc.evaluation.unshuffling import evaluate, log_transitions
from mmcc.media.photos import fitted, read_photo
from mmcc.models.pretrained_encoders import PretrainedFrameEncoder
from mmcc.report.unshuffle import copy_numbered, render
from mmcc.tools.cache import Cache
from mmcc.tools.familiar import picture_warnings
from mmcc.tools.model import ToolModel, open_model
from mmcc.tools.orders import EQUAL, LABELLED, PHOTOS
from mmcc.tools.unshuffle import unshuffle
from tests.tools.dawn import grey


@pytest.mark.parametrize("by", ["pairs", "path"])
def test_photos_come_out_in_the_order_that_the_model_knows(dawn, cache, photos, by):
    for given in (photos, photos[::-1], [photos[0].parent]):
        (set_,) = unshuffle(dawn, given, cache, by=by).sets
        assert [thing.path for thing in set_.ordered] == photos
        assert (set_.kind, set_.by, set_.kendall_tau) == (PHOTOS, by, None)
        assert set_.found.confidence > 0.5 and (set_.found.links > 0.5).all()


def test_two_photos_are_told_apart_too(dawn, cache, photos):
    """Eq. 12 says nothing of two; the formula by hand: s(u, v) by both predictors, and a logistic of the difference."""
    (set_,) = unshuffle(dawn, [photos[3], photos[2]], cache).sets
    assert [thing.path for thing in set_.ordered] == photos[2:4]
    a, b = 125 / 255, 175 / 255

    def s(u, v):
        return (math.cos(v - (u + 0.1)) + math.cos(u - (v - 0.1))) / 0.1

    first, second = set_.found.order
    expected = s(a, b) - math.log(math.exp(s(a, b)) + math.exp(s(b, a))) - 2 * math.log(2)
    assert set_.log_P_nn[first, second] == pytest.approx(expected)


def test_probabilities_are_calibrated_for_sets_no_larger_than_those_of_the_fit(dawn, cache, photos):
    (dawn.folder / "order.json").write_text('{"sharpness": 1.0, "largest": 3}')
    few, many = (unshuffle(dawn, given, cache).sets[0] for given in (photos[:3], photos[:4]))
    assert few.calibrated and not many.calibrated


def test_the_probabilities_are_those_of_the_equation(kitchen, cache, photos):
    model = kitchen.model()
    (set_,) = unshuffle(model, photos, cache).sets
    shown = np.stack([fitted(read_photo(thing.path), thing.path, model.size, "crop") for thing in set_.things])
    nodes = model.adapter.embed_frames(torch.from_numpy(shown))
    expected = log_transitions(model.adapter, nodes).numpy() - 2 * math.log(len(photos))
    assert set_.log_P_nn == pytest.approx(expected, abs=1e-5)


def test_neither_names_nor_the_order_of_arguments_matter(kitchen, tmp_path, cache):
    """A model that has learned nothing about such pictures, where the slightest hint would show."""
    model, chance = kitchen.model(), np.random.default_rng(0)
    pictures = [chance.integers(0, 256, (9, 9, 3), np.uint8) for _ in range(6)]
    found = set()
    for trial in range(4):
        folder = tmp_path / str(trial)
        folder.mkdir()
        paths = []
        for at in chance.permutation(6):
            paths.append(folder / f"{chance.random()}.png")
            Image.fromarray(pictures[at]).save(paths[-1], compress_level=trial + 1)  # other bytes, too
        (set_,) = unshuffle(model, paths, cache).sets
        found.add(b"".join(read_photo(thing.path).tobytes() for thing in set_.ordered))
    assert len(found) == 1


def test_a_frozen_encoder_sees_each_photo_once(heads, cache, photos, monkeypatch):
    model, seen = open_model(heads.run), []
    frozen = PretrainedFrameEncoder.frozen_backbone
    monkeypatch.setattr(
        PretrainedFrameEncoder, "frozen_backbone", lambda self, frames: seen.append(len(frames)) or frozen(self, frames)
    )
    (set_,) = unshuffle(model, photos, cache).sets
    assert seen == [len(photos)], "for the order and for the warning together"
    shown = np.stack([fitted(read_photo(thing.path), thing.path, model.size, "crop") for thing in set_.things])
    expected = log_transitions(model.adapter, model.adapter.embed_frames(torch.from_numpy(shown))).numpy()
    np.testing.assert_allclose(set_.log_P_nn, expected - 2 * math.log(len(photos)), atol=1e-5)
    assert (set_.note, bool(set_.strange)) == picture_warnings(model, list(shown), cache)


def test_copies_of_a_picture_stand_together_and_count_once(dawn, cache, photos, tmp_path):
    alone = unshuffle(dawn, photos, cache).sets[0].found
    twin = Path(shutil.copy(photos[2], tmp_path / "photos" / "zz.png"))
    Image.open(photos[2]).save(tmp_path / "photos" / "y.png", compress_level=0)  # the same picture in other bytes
    outcome = unshuffle(dawn, [*photos, twin, photos[2], tmp_path / "photos" / "y.png"], cache)
    (set_,) = outcome.sets
    assert set_.ordered[2].path == photos[2] and [copy.name for copy in set_.ordered[2].copies] == ["y.png", "zz.png"]
    assert set_.found.links.tolist() == alone.links.tolist()
    content = outcome.to_json()
    assert [Path(path).name for path in content["order"]] == [
        "d.png", "a.png", "e.png", "y.png", "zz.png", "c.png", "b.png",
    ]  # fmt: skip
    same = [{"path": str(copy), "of": str(photos[2])} for copy in set_.ordered[2].copies]
    assert content["duplicates"] == same and "the same picture: " in render(outcome)


def test_what_cannot_be_read_is_left_out_with_a_reason(dawn, cache, photos, tmp_path):
    (tmp_path / "photos" / "notes.jpg").write_text("not a photo")
    (tmp_path / "photos" / "cut.png").write_bytes(photos[0].read_bytes()[:-30])
    outcome = unshuffle(dawn, [tmp_path / "photos", tmp_path / "none.jpg"], cache)
    assert [thing.path for thing in outcome.sets[0].ordered] == photos
    reasons = {Path(path).name: reason for path, reason in outcome.skipped}
    assert reasons.keys() == {"notes.jpg", "cut.png", "none.jpg"}
    assert "not a readable photo" in reasons["notes.jpg"] and "No such file" in reasons["none.jpg"]
    assert outcome.to_json()["skipped"] == [{"path": path, "reason": reason} for path, reason in outcome.skipped]
    again = unshuffle(dawn, [tmp_path / "photos", tmp_path / "none.jpg"], cache)  # from the cache
    assert sorted(again.skipped) == sorted(outcome.skipped)


@pytest.mark.parametrize(
    "given, told",
    [
        (["d.png"], "d.png: is a single photo"),
        (["d.png", "twin.png"], "all show the same"),
        (["d.png", "notes.jpg"], "notes.jpg: is not a readable photo.*1 of 2 photos is left"),
        (["notes.jpg", "notes2.jpg"], "no photo is left"),
        (["empty"], "empty: "),
        (["missing"], "missing: cannot be read"),
    ],
)
def test_fewer_than_two_photos_have_no_order(dawn, cache, photos, tmp_path, given, told):
    folder = tmp_path / "photos"
    shutil.copy(photos[0], folder / "twin.png")
    (folder / "notes.jpg").write_text("not a photo")
    (folder / "notes2.jpg").write_text("not a photo either")
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=told):
        unshuffle(dawn, [folder / name for name in given], cache)


def test_each_folder_is_a_set_of_its_own(dawn, cache, photos, tmp_path):
    other = [grey(tmp_path / "other", f"{level}.png", level) for level in (90, 30, 60)]
    outcome = unshuffle(dawn, [tmp_path / "photos", tmp_path / "other"], cache)
    assert [set_.name for set_ in outcome.sets] == ["photos", "other"]
    assert [thing.name for thing in outcome.sets[1].ordered] == ["30.png", "60.png", "90.png"]
    content = outcome.to_json()
    assert [sequence["name"] for sequence in content["sequences"]] == ["photos", "other"] and "order" not in content
    with pytest.raises(InputError, match="2 sets of photos"):
        copy_numbered(outcome, tmp_path / "copies")
    assert not (tmp_path / "copies").exists() and len(other) == 3


@pytest.mark.slow
def test_sets_of_one_name_are_told_apart(kitchen, dawn, cache, photos, tmp_path):
    folders = []
    for place in ("a", "b"):
        folders.append(tmp_path / place / "photos")
        shutil.copytree(photos[0].parent, folders[-1])
    told = unshuffle(dawn, folders, cache).to_json()["sequences"]
    assert [(each["name"], each["path"]) for each in told] == [
        ("a/photos", str(folders[0])),
        ("b/photos", str(folders[1])),
    ]
    for place in ("a", "b"):
        shutil.copy2(kitchen.videos[0], tmp_path / place / "v.mp4")
    videos = [tmp_path / place / "v.mp4" for place in ("a", "b")]
    told = unshuffle(kitchen.model(), videos, cache).to_json()["sequences"]
    assert [(each["name"], each["path"]) for each in told] == [("a/v.mp4", str(videos[0])), ("b/v.mp4", str(videos[1]))]


def test_a_model_of_vectors_is_not_shown_photos(dawn, cache, photos):
    vectors = ToolModel("vectors", dawn.folder, "1", 8, "crop", 1, feature_dims=16, settings={})
    with pytest.raises(InputError, match="vectors expects vectors of 16 dims, not images"):
        unshuffle(vectors, photos, cache)


def test_labelled_segments_come_out_as_the_evaluation_has_them(kitchen, cache):
    model, corpus = kitchen.model(), Corpus.open(kitchen.corpus)
    long = [video.id for video in corpus if len(video.steps) > 2]  # of two, the evaluation tosses a coin
    outcome = unshuffle(model, [Path(f"{kitchen.corpus}:{video}") for video in long], cache)
    assert [set_.footage.video.id for set_ in outcome.sets] == long and {set_.kind for set_ in outcome.sets} == {
        LABELLED
    }
    measured = evaluate(model.adapter, embed_videos(model.adapter, corpus, long)).figures["kendall_tau/all_pairs"]
    assert [set_.kendall_tau for set_ in outcome.sets] == pytest.approx(measured.totals.tolist())
    paths = unshuffle(model, [Path(f"{kitchen.corpus}:{video}") for video in long], cache, by="path")
    measured = evaluate(model.adapter, embed_videos(model.adapter, corpus, long)).figures["kendall_tau"]
    assert [set_.kendall_tau for set_ in paths.sets] == pytest.approx(measured.totals.tolist())
    first = outcome.sets[0]
    texts = corpus.tasks[first.footage.video.tasks[0]].steps
    steps = sorted(first.footage.video.steps, key=lambda step: (step.start, step.end))
    for thing in first.things:
        step = steps[thing.true_place - 1]
        assert (thing.start, thing.end, thing.text) == (step.start, step.end, texts[step.step - 1])


def test_a_video_file_is_cut_into_equal_stretches(kitchen):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    outcome = unshuffle(model, kitchen.videos[:1], cache, clips=5)
    (set_,) = outcome.sets
    assert set_.kind == EQUAL and len(set_.things) == 5 and -1 <= set_.kendall_tau <= 1
    in_time = sorted(set_.things, key=lambda thing: thing.true_place)
    assert [thing.true_place for thing in in_time] == [1, 2, 3, 4, 5] and in_time[0].start == 0
    lengths = [thing.end - thing.start for thing in in_time]
    assert lengths == pytest.approx([lengths[0]] * 5)
    assert all(before.end == after.start for before, after in pairwise(in_time))
    content = outcome.to_json()
    assert content["of"] == "equal stretches" and content["order"][0].keys() == {"start", "end", "text", "true_place"}


def test_a_video_that_a_corpus_does_not_have(kitchen, cache):
    with pytest.raises(InputError, match="has no video 'nobody'"):
        unshuffle(kitchen.model(), [Path(f"{kitchen.corpus}:nobody")], cache)


def test_json_is_as_documented(dawn, cache, photos):
    content = unshuffle(dawn, photos, cache).to_json()
    assert json.loads(json.dumps(content)) == content
    assert content["schema"] == 1 and content["order"] == [str(path) for path in photos]
    assert [(link["from"], link["to"]) for link in content["links"]] == list(pairwise(content["order"]))
    assert all(0.5 < link["probability"] < 1 and 0 < link["transition"] < 1 for link in content["links"])
    assert 0.5 < content["confidence"] < 1 and 0 < content["probability"] < 1 and content["exact"] is True
    assert sorted(content["runner_up"]["order"]) == sorted(content["order"]) != content["order"]
    assert 0 < content["runner_up"]["ratio"] < 1
    assert (content["of"], content["by"], content["duplicates"], content["skipped"]) == ("photos", "pairs", [], [])


def test_many_photos_are_ordered_and_said_to_be_estimated(dawn, cache, tmp_path):
    many = [grey(tmp_path / "many", f"{at * 7 % 20}.png", 20 + 11 * at) for at in range(20)]
    outcome = unshuffle(dawn, many, cache)
    assert [thing.path for thing in outcome.sets[0].ordered] == many
    assert outcome.to_json()["probability"] is None


@pytest.fixture
def bright(photos, kitchen, tmp_path):
    """A folder with a file that is not a photo, and a run."""
    (tmp_path / "photos" / "notes.jpg").write_text("not a photo")
    return str(kitchen.run), str(tmp_path / "photos")


def test_the_verb(bright, tmp_path, capsys):
    run, folder = bright
    out, sheet = tmp_path / "out", tmp_path / "sheet.png"
    assert main(["unshuffle", run, folder, "--sheet", str(sheet), "--copy-to", str(out), "--json"]) == EXIT_SKIPPED
    printed = capsys.readouterr()
    content = json.loads(printed.out)
    assert [path.name[3:] for path in sorted(out.iterdir())] == [Path(path).name for path in content["order"]]
    assert sheet.exists() and "notes.jpg: is not a readable photo" in printed.err
    (Path(folder) / "notes.jpg").unlink()
    assert main(["unshuffle", run, folder, "--by", "path"]) == EXIT_OK
    assert "5 photos of photos, by the most likely path" in capsys.readouterr().out


def test_what_the_verb_refuses(bright, tmp_path, capsys):
    run, folder = bright
    (tmp_path / "empty").mkdir()
    cases = {
        (run, folder, "--copy-to", folder): (EXIT_BAD_INPUT, "is not empty"),
        (run, str(tmp_path / "empty")): (
            EXIT_BAD_INPUT,
            "empty: has neither photos nor videos\n      Name a folder of",
        ),
        (run, f"{folder}/notes.jpg"): (EXIT_BAD_INPUT, "notes.jpg: is not a readable photo"),
        (str(tmp_path / "no_run"), folder): (EXIT_BAD_INPUT, "no_run"),
        (run, folder, "--sheet", str(tmp_path / "none" / "a.png")): (EXIT_BAD_INPUT, "cannot be written"),
    }
    for arguments, (code, told) in cases.items():
        assert main(["unshuffle", *arguments]) == code
        errors = capsys.readouterr().err
        assert told in errors and "Traceback" not in errors
    (tmp_path / "fake.mp4").write_text("not a video")
    assert main(["unshuffle", run, str(tmp_path / "fake.mp4")]) == EXIT_BAD_INPUT
    for option in (["--by", "magic"], ["--clips", "1"]):
        with pytest.raises(SystemExit) as stopped:
            main(["unshuffle", run, folder, *option])
        assert stopped.value.code == EXIT_USAGE


def test_the_second_question_needs_no_torch(bright, without_torch, tmp_path, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "kept"))
    command = ["unshuffle", *bright]
    assert "torch is out of reach" in without_torch.mmcc(*command).err
    assert main(command) == EXIT_SKIPPED
    for question in ([], ["--by", "path", "--json"]):
        done = without_torch.mmcc(*command, *question)
        assert done.code == EXIT_SKIPPED, done.err
