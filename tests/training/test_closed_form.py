"""A start in closed form: each head is the ridge regression that it claims to be, before the first step."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.data.segments import UsableVideos
from mmcc.errors import InputError
from mmcc.models import load_network
from mmcc.training import closed_form, perception
from mmcc.training.closed_form import CONFIDENCE, CONSTANT, SAID_LATE, SEEN_LATE, start_in_closed_form
from mmcc.training.config import load_config
from mmcc.training.loop import build_model, train
from mmcc.training.processes import join_world
from tests.backbones.exported import export
from tests.training.test_perception import grid

STEPS = ("wash it", "peel the skin", "cut in pieces", "fry in butter", "serve on a plate")
VIDEOS = 24


@pytest.fixture(scope="module")
def stills(tmp_path_factory):
    """Videos of three stills that get brighter, five sentences each; some have sentences alone."""
    folder = tmp_path_factory.mktemp("stills")
    videos = {}
    rng = np.random.default_rng(0)
    for number in range(VIDEOS):
        segments = [{"start": 20 * at, "end": 20 * at + 10, "sentence": step} for at, step in enumerate(STEPS)]
        frames = []
        for at in (0, 2, 4) if number % 3 else ():
            name = f"frames/{number}/{at}.png"
            (folder / "y" / name).parent.mkdir(parents=True, exist_ok=True)
            picture = rng.integers(0, 80, (16, 16, 3)) + 40 * at
            Image.fromarray(picture.astype(np.uint8)).save(folder / "y" / name)
            frames.append({"file": name, "segment": at, "time": 20 * at + 5})
        videos[f"v{number}"] = {"segments": segments, "frames": frames}
    (folder / "y" / "videos.json").write_text(json.dumps(videos))
    size = torch.zeros(1, 3, 12, 12)
    graph = export(folder / "grid.onnx", grid, {"pixels": size}, ["vector"], {"pixels": {0: "P"}, "vector": {0: "P"}})
    assert main(["ingest", str(folder / "y"), "-o", str(folder / "c"), "--size", "16"]) == 0
    assert main(["embed", str(folder / "c"), "--frames", f"onnx:{graph}", "--text", "minilm"]) == 0
    return folder / "c", f"onnx:{graph}"


def settings(name, *more):
    heads = [f"model.frame_encoder={name}", "model.frame_encoder.components=5", "model.text_encoder=minilm"]
    small = ["model.dims=7", "model.predictor_rank=2", "model.text_encoder.components=4"]
    segments = ["data.min_frames=0", "data.held_out=0", "data.segment_seconds=200", "data.frame_rates=[1.0]"]
    training = ["train.steps=4", "train.batch_size=6", "train.workers=0", "train.checkpoint_every=2"]
    weights = ["objective.direction.pairs=true", "objective.ramp_share=0"]
    return load_config(None, [*heads, *small, *segments, *training, *weights, "train.start=closed_form", *more])


@pytest.fixture(scope="module")
def started(stills):
    corpus, name = stills
    config = settings(name)
    opened = perception.for_encoders(Corpus.open(corpus), config.model)
    config = perception.fit_to_corpus(config, opened)
    videos = UsableVideos(opened, "train", config.data)
    with join_world("cpu") as world:
        model = build_model(config, 0, world)
    perception.fit_heads(model, videos)
    start_in_closed_form(model, videos)
    return model.eval(), videos


def test_late_nodes_are_later(started):
    model, videos = started
    with torch.inference_mode():
        for video in (videos.corpus[each] for each in videos.ids):
            words = model.embed_words(torch.from_numpy(video.text_vectors))[:, -3]
            assert words.argsort().tolist() == list(range(5))
            if len(video.times):
                z = model.embed_frames(torch.from_numpy(video.frames()))
                assert z[:, -3].argsort().tolist() == [0, 1, 2]
                later, sooner = (float(model.future(z[:1]) @ model.project(z[at], "vision")) for at in (2, 1))
                assert later > sooner > float(model.past(z[:1]) @ model.project(z[2], "vision"))


def test_lengths_are_as_stated(started):
    model, videos = started
    frames = np.concatenate([videos.corpus[each].frames() for each in videos.ids if len(videos.corpus[each].times)])
    words = np.concatenate([videos.corpus[each].text_vectors for each in videos.ids])
    with torch.no_grad():
        seen, said = model.embed_frames(torch.from_numpy(frames)), model.embed_words(torch.from_numpy(words))
        future, seen_pi = model.future(seen), model.project(seen, "vision")
    for z, late in ((seen, SEEN_LATE), (said, SAID_LATE)):
        assert z[:, -3].std() == pytest.approx(late, rel=1e-3)
        assert torch.allclose(z[:, -2], torch.tensor(CONSTANT)) and not z[:, -1].any()
    assert seen[:, :-3].square().sum(dim=1).mean() == pytest.approx(1, rel=1e-3)
    assert future[:, -3].mean() == pytest.approx(CONFIDENCE) and not seen_pi[:, -1].any()


def test_a_frame_is_regressed_to_its_sentence(started):
    """By hand: the normal equations of ridge hold for the content of frames."""
    model, videos = started
    x, y = [], []
    with torch.inference_mode():
        for video in (videos.corpus[each] for each in videos.ids):
            if len(video.times):
                x.append(model.frame_encoder.head.whitened(torch.from_numpy(video.frames())).double())
                y.append(model.embed_words(torch.from_numpy(video.text_vectors[[0, 2, 4]]))[:, :4].double())
    x, y = torch.cat(x), torch.cat(y)
    found = model.frame_encoder.head.layers[0].weight[:4].T.double()
    penalty = closed_form.CONTENT_RIDGE * x.square().sum() * torch.eye(x.shape[1])
    expected = torch.linalg.solve(x.T @ x + penalty, x.T @ (y - y.mean(dim=0)))
    assert torch.allclose(found / found.norm(), expected / expected.norm(), atol=1e-4)


def test_it_is_trained_from_there_and_resumed_to_the_same_weights_while_anchored(stills, tmp_path):
    corpus, name = stills
    for run, steps in (("whole", (4,)), ("parts", (2, 4))):
        for at, count in enumerate(steps):
            config = settings(name, "train.anchor=0.1", f"train.steps={count}")
            train(corpus, tmp_path / run, config, resume=at > 0, anyway=True, say=lambda line: None)
    whole, parts = (tmp_path / run / "checkpoints/00000004/model.safetensors" for run in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


def test_a_strong_anchor_holds_the_start(stills, started, tmp_path):
    corpus, name = stills
    first = dict(started[0].named_parameters())
    moved = {}
    for anchor in ("0", "1000"):
        config = settings(name, f"train.anchor={anchor}", "train.steps=30", "train.lr=0.01")
        train(corpus, tmp_path / anchor, config, anyway=True, say=lambda line: None)
        after = dict(load_network(tmp_path / anchor / "checkpoints/00000030").named_parameters())
        moved[anchor] = sum(
            float((after[each] - first[each]).detach().square().sum()) for each in first if "head" not in each
        )
    assert moved["1000"] < 0.3 * moved["0"]


def test_what_has_no_closed_form_is_refused(stills, tmp_path):
    corpus, name = stills
    for change in ("model.predictor_rank=0", "model.frame_encoder.head=mlp"):
        with pytest.raises(InputError, match="closed_form is for linear heads"):
            train(corpus, tmp_path / "run", settings(name, change), anyway=True, say=lambda line: None)
    with pytest.raises(InputError, match=r"model\.dims"):
        train(corpus, tmp_path / "run", settings(name, "model.dims=3"), anyway=True, say=lambda line: None)
