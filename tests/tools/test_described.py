"""Photos in order from what they show and from what is written about them."""

import numpy as np
import pytest
import torch
from PIL import Image

import mmcc
from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.unshuffling import log_transitions
from mmcc.tools.cache import Cache
from mmcc.tools.described import describe, read_descriptions
from mmcc.tools.model import open_model
from mmcc.tools.unshuffle import unshuffle

TEXTS = ["chop the onions", "fry them in oil", "pour in the broth", "serve the soup"]

NAMES = ["a.png", "b.png", "c.png", "d.png"]


@pytest.fixture
def photos(tmp_path):
    """Four pictures of 32 pixels, which a model of that size sees as they are."""
    pixels = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), np.uint8)
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, each in zip("cadb", pixels, strict=True):
        Image.fromarray(each).save(folder / f"{name}.png")
    return folder


def test_the_scores_are_the_sum_of_those_of_pictures_and_texts(heads, photos, tmp_path):
    model, adapter = open_model(heads.run), open_adapter(heads.run)
    found = unshuffle(model, [photos], Cache(tmp_path), texts=TEXTS).sets[0]
    assert {thing.name: thing.text for thing in found.things} == dict(zip(NAMES, TEXTS, strict=True))
    pictures = torch.from_numpy(np.stack([np.asarray(Image.open(thing.path)) for thing in found.things]))
    seen = log_transitions(adapter, adapter.embed_frames(pictures)).numpy() - 2 * np.log(4)
    read = log_transitions(adapter, adapter.embed_texts([thing.text for thing in found.things])).numpy()
    apart = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(found.log_P_nn[apart], (seen + read)[apart], atol=1e-4)
    assert not found.calibrated
    listed = {each["path"]: each["text"] for each in found.to_json()["texts"]}
    assert listed[str(photos / "a.png")] == "chop the onions"


def test_lines_belong_to_photos_in_the_order_given_and_the_answer_does_not_depend_on_it(heads, photos, tmp_path):
    model = mmcc.load_model(heads.run, cache=tmp_path)
    by_name = model.order(photos, texts=TEXTS)
    given = ["d.png", "b.png", "a.png", "c.png"]
    again = model.order([photos / name for name in given], texts=[TEXTS["abcd".index(name[0])] for name in given])
    assert [each.name for each in again.ordered] == [each.name for each in by_name.ordered]
    assert not any(each.text for each in model.order(photos).things)


def test_the_verb_reads_them_from_a_file(heads, photos, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    texts = tmp_path / "texts.txt"
    texts.write_text("\ufeff" + "\r\n".join(TEXTS) + "\n\n", encoding="utf-8")
    assert main(["unshuffle", str(heads.run), str(photos), "--texts", str(texts)]) == 0
    out = capsys.readouterr().out
    assert all(text in out for text in TEXTS)
    texts.write_text("\n".join(TEXTS[:3]))
    assert main(["unshuffle", str(heads.run), str(photos), "--texts", str(texts)]) == 3
    assert f"{texts}: has 3 lines, but there are 4 photos" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("texts", "cause"),
    [
        (TEXTS[:1], "has 1 line, but there are 4 photos"),
        ([*TEXTS, "eat"], "has 5 lines, but there are 4 photos"),
        ([*TEXTS[:2], " ", "eat"], r"line 3 has no words \(.*c\.png\)"),
        ([*TEXTS[:3], "…"], r"line 4 has no words \(.*d\.png\)"),
    ],
)
def test_lines_that_do_not_fit_are_named(heads, photos, texts, cause, tmp_path):
    with pytest.raises(InputError, match=f"texts: {cause}"):
        mmcc.load_model(heads.run, cache=tmp_path).order(photos, texts=texts)


def test_they_describe_one_set_of_photos(photos):
    both = {"": [photos / "a.png"], "other": [photos / "b.png"]}
    with pytest.raises(InputError, match="2 sets were given"):
        describe(both, 0, ["one", "two"], "texts")
    with pytest.raises(InputError, match="a video was given"):
        describe({}, 1, ["one"], "texts")


def test_a_model_that_cannot_read_them_says_so(dawn, photos, tmp_path):
    with pytest.raises(InputError, match="was trained without text and cannot read descriptions"):
        unshuffle(dawn, [photos], Cache(tmp_path), texts=TEXTS)


def test_words_that_a_vocabulary_lacks_are_named(photos, tmp_path):
    model = open_model("kitchen")
    found = unshuffle(model, [photos], Cache(tmp_path), texts=[*TEXTS[:3], "serve the gochujang"])
    assert "kitchen does not know the words: gochujang, broth." in found.warnings[0]
    with pytest.raises(InputError, match="knows no content word of 'gochujang'"):
        unshuffle(model, [photos], Cache(tmp_path), texts=[*TEXTS[:3], "gochujang"])


def test_the_same_picture_needs_the_same_text(heads, photos, tmp_path):
    (photos / "e.png").write_bytes((photos / "a.png").read_bytes())
    model = open_model(heads.run)
    with pytest.raises(InputError, match=r"e\.png: shows the same picture as .*a\.png, but has another description"):
        unshuffle(model, [photos], Cache(tmp_path), texts=[*TEXTS, "eat"])
    found = unshuffle(model, [photos], Cache(tmp_path), texts=[*TEXTS, TEXTS[0]]).sets[0]
    assert len(found.things) == 4


def test_what_is_no_text_file_is_named(tmp_path):
    (tmp_path / "texts.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "endless.txt").write_text("x" * (2 << 20))
    refused = (
        ("texts", "is not UTF-8 text"),
        ("none", "No such file"),
        ("endless", "it has more than 1,048,576 bytes"),
    )
    for path, why in ((tmp_path / f"{name}.txt", why) for name, why in refused):
        with pytest.raises(InputError, match=f"cannot be read \\({why}"):
            read_descriptions(path)
