"""`mmcc neurons`: pairs, pictures, maps; the second question without torch."""

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.gradcam import grad_cam
from mmcc.evaluation.neurons import SpokenWords
from mmcc.tools.cache import Cache
from mmcc.tools.footage import at_size
from mmcc.tools.model import open_model
from mmcc.tools.neurons import FoundNeuron, _often_said, find_neurons, fingerprint
from mmcc.training.config import load_config
from mmcc.training.loop import train


@pytest.fixture(scope="module")
def trained(kitchens, tmp_path_factory) -> tuple[str, Path]:
    """A run of two steps on ten small videos, and their corpus."""
    folder = tmp_path_factory.mktemp("neurons")
    shutil.copytree(kitchens.kitchen_corpus(videos=10, tasks=1, size=32).kitchen, folder / "kitchen")
    lists = [folder / "kitchen" / name for name in ("videos.csv", "videos_val.csv")]
    lists[0].write_text("".join(path.read_text() for path in lists))  # none is held out, so that all are looked at
    lists[1].write_text("")
    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / "corpus"), "--size", "32"]) == 0
    return train_briefly(folder / "corpus", folder / "run", "mmcc_plus"), folder / "corpus"


def train_briefly(corpus: Path, run: Path, config: str, *more: str) -> str:
    small = ["model.dims=16", "model.frame_encoder.width=16", "train.steps=2", "train.batch_size=4", "train.workers=0"]
    train(corpus, run, load_config(config, [*small, *more]), anyway=True, say=lambda line: None)
    return str(run)


@pytest.fixture(scope="module")
def found(trained, tmp_path_factory):
    run, corpus = trained
    return find_neurons(open_model(run), Corpus.open(corpus), Cache(tmp_path_factory.mktemp("cache")), each=2)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's ρ, from its definition: Pearson's, of mid-ranks."""

    def ranks(values):
        return np.array([((values < v).sum() + ((values == v).sum() - 1) / 2) for v in values])

    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def correlation_by_hand(run: str, corpus: Path, best: FoundNeuron, seen=lambda frames: frames) -> float:
    """Of the neuron with the word, over all frames during which something is said."""
    active, said = [], []
    for video in Corpus.open(corpus):
        frames = seen(torch.from_numpy(video.frames()))
        z = open_adapter(run).embed_frames(frames).z[:, best.neuron].numpy()
        for time, value in zip(video.times, z, strict=True):
            spoken = [u.text.lower() for u in video.utterances if u.start <= time < u.end]
            if any(any(mark.isalpha() for mark in text) for text in spoken):
                active.append(value)
                said.append(any(best.word in "".join(c if c.isalnum() else " " for c in t).split() for t in spoken))
    assert sum(said) >= 50
    return rank_correlation(np.array(active), np.array(said))


def test_the_correlation_is_that_of_the_word_with_the_neuron(trained, found):
    best = found.neurons[0]
    assert best.correlation == pytest.approx(correlation_by_hand(*trained, best), abs=1e-4)


@pytest.mark.slow
def test_larger_pictures_are_seen_at_the_size_the_model_was_trained_on(trained, tmp_path):
    run, corpus = trained
    larger = tmp_path / "larger"
    assert main(["ingest", str(corpus.parent / "kitchen"), "-o", str(larger), "--size", "80"]) == 0
    found = find_neurons(open_model(run), Corpus.open(larger), Cache(tmp_path / "cache"), each=1)
    best = found.neurons[0]
    by_hand = correlation_by_hand(run, larger, best, seen=lambda frames: at_size(frames, 32))
    assert best.correlation == pytest.approx(by_hand, abs=1e-4)
    assert found.arrays["picture 0 0"].shape == (80, 80, 3) and found.arrays["map 0 0"].shape == (80, 80)


def test_every_pair_has_pictures_and_maps(found):
    assert {each.kind for each in found.neurons} <= {"verb", "noun"} and found.neurons
    for at, each in enumerate(found.neurons):
        assert len(each.moments) == 6 and each.correlation > 0 and each.chance < 1
        for number in range(6):
            assert found.arrays[f"picture {at} {number}"].shape == (32, 32, 3)
            heat = found.arrays[f"map {at} {number}"]
            assert heat.shape == (32, 32) and heat.min() >= 0 and heat.max() <= 1


@pytest.mark.slow
def test_baselines_with_two_encoders_have_maps_of_the_one_that_gives_z(trained, tmp_path):
    _, corpus = trained
    teacher = train_briefly(corpus, tmp_path / "teacher", "cross_modal")
    baseline = open_model(train_briefly(corpus, tmp_path / "tap", "tap", f"train.init={teacher}", "train.lr=0.1"))
    found = find_neurons(baseline, Corpus.open(corpus), Cache(tmp_path / "cache"), each=1)
    picture, heat = (torch.from_numpy(found.arrays[f"{kind} 0 0"]) for kind in ("picture", "map"))
    trained_one, frozen = (
        grad_cam(encoder, picture[None], found.neurons[0].neuron, stage="layer2")[0]
        for encoder in baseline.adapter.model.frame_encoders()
    )
    assert np.allclose(heat, trained_one, atol=1e-5) and not np.allclose(heat, frozen, atol=1e-2)


def test_json_has_the_documented_form(found):
    content = json.loads(json.dumps(found.to_json()))
    assert content["schema"] == 1 and content["skipped"] == [] and content["warnings"] == []
    assert set(content["neurons"][0]) == {
        "kind",
        "word",
        "neuron",
        "correlation",
        "chance",
        "above_chance",
        "moments",
    }
    assert set(content["neurons"][0]["moments"][0]) == {"video", "time", "text"}


def test_words_that_are_asked_for(trained, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    run, corpus = trained
    assert main(["neurons", run, str(corpus), "--words", "The, xyzzy", "--json"]) == 4
    told = capsys.readouterr()
    content = json.loads(told.out)
    assert [(each["kind"], each["word"]) for each in content["neurons"]] == [("word", "the")]
    assert len(content["warnings"]) == 1 and "xyzzy" in content["warnings"][0] and "xyzzy" in told.err


def test_unlike_footage_is_warned_of_and_answered_all_the_same(make_clip, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    clip = make_clip("src/card.mp4", seconds=120, rate=2, size="160x120")
    times = [f"{at // 60:02}:{at % 60:02}.000" for at in range(0, 121, 2)]
    said = [f"{a} --> {b}\n{'cut the onion' if a < '01' else 'fill the pan'}" for a, b in pairwise(times)]
    clip.with_suffix(".vtt").write_text("\n\n".join(["WEBVTT", *said]))
    assert main(["ingest", str(clip.parent), "-o", str(tmp_path / "corpus"), "--size", "64"]) == 0
    capsys.readouterr()
    assert main(["neurons", "kitchen", str(tmp_path / "corpus"), "--words", "onion", "--json"]) == 0
    told = capsys.readouterr()
    warning = "card: unlike what kitchen was trained on ("
    assert told.err.startswith(warning) and json.loads(told.out)["warnings"][0].startswith(warning)


def test_the_second_question_needs_no_torch(trained, without_torch, tmp_path, monkeypatch, capsys):
    run, corpus = trained
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    command = ["neurons", run, str(corpus), "--json", "-o", str(tmp_path / "a.html")]
    assert "torch is out of reach" in without_torch.mmcc(*command).err
    capsys.readouterr()
    assert main(command) == 0
    first, second = capsys.readouterr(), without_torch.mmcc(*command)
    assert second.code == 0, second.err
    assert first.out == second.out


def test_another_corpus_is_another_question(trained, tmp_path):
    corpus = Corpus.open(trained[1])
    before = fingerprint(corpus)
    assert fingerprint(Corpus.open(trained[1])) == before
    with (corpus.path / "manifest.json").open("a") as file:
        file.write("\n")
    assert fingerprint(corpus) != before


def test_the_advice_names_words_that_work():
    """Those said most, on 50 frames or more, but for words such as "the"."""
    said = {"the": 200, "pan": 120, "stir": 90, "egg": 70, "salt": 60, "oil": 50, "pepper": 49, "butter": 55}
    counts = dict(sorted(said.items(), key=lambda each: -each[1]))
    column = np.repeat(np.arange(len(counts)), list(counts.values()))
    spoken = SpokenWords(np.arange(500), tuple(counts), np.arange(len(column)), column)
    assert _often_said(spoken) == "Said often enough are, for example: --words pan,stir,egg,salt,butter."
    rare = SpokenWords(np.arange(9), ("the", "pan"), np.arange(60), np.array([0] * 55 + [1] * 5))
    assert _often_said(rare) == "It has too little narration."


def test_the_words_that_are_advised_are_answered(trained, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    assert main(["neurons", trained[0], str(trained[1]), "--words", "xyzzy"]) == 3
    advised = re.search(r"--words ([\w,]+)", capsys.readouterr().err)[1]
    assert main(["neurons", trained[0], str(trained[1]), "--words", advised, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["neurons"]
    assert {each["word"] for each in shown} == set(advised.split(","))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nothing", "{corpus}"], 3, "there is no such folder"),
        (["{run}", "{tmp}"], 3, "manifest.json"),
        (["{run}", "{corpus}", "-o", "{tmp}/none/a.html"], 2, "there is no folder"),
        (["{run}", "{corpus}", "--words", "xyzzy"], 3, "none of the words xyzzy is said over 50 frames or more"),
        (["{run}", "{corpus}", "--top", "0"], 2, "at least 1"),
        (["{run}", "{corpus}", "--words", "xyzzy"], 3, "Said often enough are, for example: --words "),
    ],
)
def test_what_cannot_be_answered(trained, tmp_path, monkeypatch, capsys, arguments, code, told):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    filled = [word.format(tmp=tmp_path, run=trained[0], corpus=trained[1]) for word in arguments]
    try:
        assert main(["neurons", *filled]) == code
    except SystemExit as stop:
        assert stop.code == code
    error = capsys.readouterr().err
    assert told in error and "Traceback" not in error
