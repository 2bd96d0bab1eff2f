"""Image encoders from ONNX files, exported here."""

import copy
import importlib.util
import json
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from mmcc.backbones import open_frame_backbone
from mmcc.backbones.onnx_frames import IMAGENET_MEAN, IMAGENET_STD
from mmcc.errors import InputError, MissingDependency, UsageError
from tests.backbones.exported import export

pytest.importorskip("onnxruntime", reason="extra onnx is not installed")
pytest.importorskip("onnx", reason="extra dev is not installed")
BATCH = {"pixels": {0: "P"}}
ANY = {"pixels": {0: "P", 2: "H", 3: "W"}}
PICTURES = torch.randint(256, (5, 8, 8, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
PIXELS = torch.zeros(1, 3, 8, 8)


def colours(pixels):
    """The mean colour: what the network was given can be read off."""
    return pixels.mean((2, 3))


@pytest.fixture
def graph(tmp_path):
    """Write a graph beside nothing else; returns its backbone's name."""

    def make(function=colours, pixels=PIXELS, outputs=("vector",), dynamic=BATCH, options="", name="pixels", **more):
        path = export(tmp_path / "encoder.onnx", function, {name: pixels, **more}, outputs, dynamic)
        return f"onnx:{path}{options}"

    return make


def normalized(mean=IMAGENET_MEAN, std=IMAGENET_STD, pictures=PICTURES):
    """[P, 3]: the mean colour after normalization, by hand."""
    return (pictures.numpy().astype(np.float64).mean((1, 2)) / 255 - mean) / std


def test_what_is_not_given_is_read_from_the_graph(graph):
    backbone = open_frame_backbone(graph())
    assert (backbone.size, backbone.dims, backbone.trainable, backbone.visible) == (8, 3, False, 1)
    vectors = backbone(PICTURES)
    assert vectors.dtype == torch.float32 and np.allclose(vectors, normalized(), atol=1e-5)
    assert torch.equal(vectors, backbone(PICTURES)) and not backbone.training
    assert torch.allclose(vectors, torch.cat([backbone(each[None]) for each in PICTURES]), atol=1e-5)
    assert backbone(torch.zeros(2, 30, 50, 3, dtype=torch.uint8)).shape == (2, 3)  # fitted
    assert backbone(PICTURES[:0]).shape == (0, 3)


def test_mean_and_standard_deviation_are_given(graph):
    backbone = open_frame_backbone(graph(options="?mean=0.1,0.2,0.3&std=0.5"))
    assert np.allclose(backbone(PICTURES), normalized((0.1, 0.2, 0.3), 0.5), atol=1e-5)


def test_channels_last(graph):
    name = graph(lambda pixels: pixels.mean((1, 2)), torch.zeros(1, 8, 8, 3))
    assert np.allclose(open_frame_backbone(name)(PICTURES), normalized(), atol=1e-5)
    maps = graph(lambda pixels: pixels * 1, torch.zeros(1, 8, 8, 3))
    assert np.allclose(open_frame_backbone(maps)(PICTURES), normalized(), atol=1e-5)


def test_half_precision(graph):
    backbone = open_frame_backbone(graph(pixels=PIXELS.half()))
    vectors = backbone(PICTURES)
    assert vectors.dtype == torch.float32 and np.allclose(vectors, normalized(), atol=1e-2)


def test_bytes_are_given_as_they_are(graph):
    name = graph(lambda pixels: pixels.float().mean((2, 3)), PIXELS.byte())
    assert np.allclose(open_frame_backbone(name)(PICTURES), PICTURES.float().mean((1, 2)), atol=1e-4)
    with pytest.raises(UsageError, match="mean and std are for graphs that take floats; this one takes bytes"):
        open_frame_backbone(f"{name}?mean=0.5")


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_a_graph_for_a_fixed_number_of_pictures(graph, batch):
    backbone = open_frame_backbone(graph(pixels=PIXELS.repeat(batch, 1, 1, 1), dynamic={}))
    assert np.allclose(backbone(PICTURES), normalized(), atol=1e-5)


def test_a_graph_that_was_traced_with_one_picture(graph):
    """It claims any number, but inside its shape is fixed."""
    backbone = open_frame_backbone(graph(lambda pixels: pixels.reshape(1, 3, 64).mean(2)))
    assert np.allclose(backbone(PICTURES), normalized(), atol=1e-5)


def tokens(pixels):
    """[P, 4, 3]: a first token, twice the mean colour, and three of its multiples."""
    return torch.stack([2 * colours(pixels), *(factor * colours(pixels) for factor in (1, 3, 6))], 1)


@pytest.mark.parametrize(("options", "factor"), [("", 2), ("?pooling=cls", 2), ("?pooling=mean", 3)])
def test_tokens_are_pooled(graph, options, factor):
    backbone = open_frame_backbone(graph(tokens, options=options))
    assert np.allclose(backbone(PICTURES), factor * normalized(), atol=1e-4)


def test_maps_have_a_mean(graph):
    name = graph(lambda pixels: pixels * 4)
    assert np.allclose(open_frame_backbone(name)(PICTURES), 4 * normalized(), atol=1e-4)
    with pytest.raises(UsageError, match=r"nothing to apply pooling=cls to \(outputs: vector \[any, 3, 8, 8\]\)"):
        open_frame_backbone(f"{name}?pooling=cls")


def test_the_output_that_is_taken(graph):
    def several(pixels):
        return tokens(pixels), colours(pixels), 5 * colours(pixels), pixels.sum()

    names = ["last_hidden_state", "logits", "image_embeds", "scale"]
    name = graph(several, outputs=names)
    sums = set()
    for options, factor in (("", 5), ("?output=logits", 1), ("?pooling=mean", 3), ("?output=last_hidden_state", 2)):
        backbone = open_frame_backbone(name + options)
        assert np.allclose(backbone(PICTURES), factor * normalized(), atol=1e-4), options
        sums.add(backbone.checksum)
    assert len(sums) == 4
    with pytest.raises(
        UsageError, match=r"no output is named 'x' \(there are: last_hidden_state, logits, image_embeds"
    ):
        open_frame_backbone(f"{name}?output=x")


HUGGING_FACE = {
    "crop_size": {"height": 6, "width": 6}, "do_center_crop": True, "image_mean": [0.5, 0.4, 0.3],
    "image_std": [0.2, 0.2, 0.2], "rescale_factor": 1 / 255, "size": {"shortest_edge": 8},
}  # fmt: skip


def test_the_configuration_beside_it(graph, tmp_path):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(HUGGING_FACE))
    name = graph(dynamic=ANY)
    backbone = open_frame_backbone(name)
    assert (backbone.size, backbone.visible) == (6, 0.75)
    by_hand = normalized((0.5, 0.4, 0.3), 0.2, PICTURES[:, 1:7, 1:7])
    assert np.allclose(backbone(PICTURES), by_hand, atol=1e-5)
    # What is given comes before it, and the defaults after it.
    given = open_frame_backbone(f"{name}?size=8&resize=8&mean=0&std=1")
    assert (given.size, given.visible) == (8, 1) and np.allclose(given(PICTURES), normalized(0, 1), atol=1e-5)
    (tmp_path / "preprocessor_config.json").write_text("{}")
    assert open_frame_backbone(f"{name}?layout=nchw").size == 224


@pytest.mark.parametrize(
    ("changes", "mean", "std"),
    [
        ({"do_normalize": False}, 0, 1),
        ({"do_normalize": False, "do_rescale": False}, 0, 1 / 255),
        ({"rescale_factor": 2 / 255}, np.array([0.25, 0.2, 0.15]), 0.1),
        ({"size": 6, "crop_size": None}, np.array([0.5, 0.4, 0.3]), 0.2),
    ],
)
def test_other_units_in_the_configuration(graph, tmp_path, changes, mean, std):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**HUGGING_FACE, **changes}))
    flat = torch.full((2, 9, 9, 3), 100, dtype=torch.uint8)
    by_hand = normalized(mean, std, flat)
    assert np.allclose(open_frame_backbone(graph(dynamic=ANY))(flat), by_hand, atol=1e-4, rtol=1e-5)


def test_a_checksum_is_of_the_weights_and_the_options(graph, tmp_path):
    sums = [
        open_frame_backbone(graph(options=options)).checksum for options in ("", "?mean=0.5", "?std=0.5", "?resize=9")
    ]
    name = graph(lambda pixels: 1.5 * colours(pixels))
    changed = open_frame_backbone(name)
    assert np.allclose(changed(PICTURES), 1.5 * normalized(), atol=1e-4)  # the same name, and another file
    assert len({*sums, changed.checksum}) == 5
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "encoder.onnx").rename(tmp_path / "elsewhere" / "encoder.onnx")
    assert open_frame_backbone(f"onnx:{moved}").checksum == changed.checksum


def test_weights_in_a_file_of_their_own_count(tmp_path):
    import onnx

    path = export(tmp_path / "large.onnx", nn.Sequential(nn.Flatten(), nn.Linear(192, 4)), {"pixels": PIXELS}, ["v"])
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    weights = tmp_path / "weights.bin"
    before = open_frame_backbone(f"onnx:{path}")
    content = bytearray(weights.read_bytes())
    content[100] ^= 1
    weights.write_bytes(content)
    assert open_frame_backbone(f"onnx:{path}?std=0.229,0.224,0.225").checksum != before.checksum


def test_a_copy_is_opened_again(graph):
    backbone = open_frame_backbone(graph())
    for copied in (copy.deepcopy(backbone), pickle.loads(pickle.dumps(backbone))):
        assert copied is not backbone and torch.equal(copied(PICTURES), backbone(PICTURES))


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("?pool=cls", r"unknown option 'pool' \(known: size, resize, layout, mean, std, output, pooling\)"),
        ("?pooling=max", "pooling is 'max'; it must be one of cls, mean"),
        ("?pooling=cls", r"nothing to apply pooling=cls to \(outputs: vector \[any, 3\]\)"),
        ("?size=9", "size is 9, but the graph takes pictures of 8 pixels"),
        ("?size=-8", "size is '-8'; it must be a positive integer"),
        ("?resize=4", "resize is 4, smaller than the pictures' 8 pixels"),
        ("?mean=1,2", "mean is '1,2'; it must be one number or three"),
        ("?std=0", "std is '0'; it must be one positive number or three"),
        ("?std=nan", "std is 'nan'"),
        ("?mean=a", "mean is 'a'"),
        ("?size", "size needs one value, as in size="),
        ("?size=8&size=8", "size needs one value"),
        ("?layout=chw", "layout is 'chw'; it must be one of nchw, nhwc"),
    ],
)
def test_options_that_are_not_understood(graph, options, cause):
    with pytest.raises(UsageError, match=cause) as caught:
        open_frame_backbone(graph(options=options))
    assert "\n" not in str(caught.value)


def both(pixels, ids):
    return pixels.mean((2, 3)) + ids.float()


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        ({"function": both, "input_ids": torch.zeros(1, 3).long()}, "nothing can be given to its inputs input_ids"),
        ({"function": lambda x: x * 2, "pixels": torch.zeros(1, 9)}, r"takes no pictures \(inputs: pixels\)"),
        ({"pixels": torch.zeros(1, 1, 8, 8)}, r"takes pictures \[any, 1, 8, 8\], without an axis of three colours"),
        ({"pixels": torch.zeros(1, 3, 8, 6)}, "takes pictures of 6 × 8 pixels; only squares are supported"),
        ({"pixels": PIXELS.double()}, "takes pictures of float64; known are float32, float16, uint8"),
        ({"function": lambda x: x.mean((2, 3)).long()}, "no output is a vector, tokens or a map of floats"),
        ({"function": lambda x: x.mean()}, "no output has one row for each picture or text"),
        ({"function": nn.Sequential(nn.Flatten(), nn.Linear(192, 2)), "dynamic": ANY},
         r"cannot be run on pixels \[1, 3, 224, 224\] of float32"),
    ],
)  # fmt: skip
def test_graphs_that_do_not_fit(graph, made, cause):
    name = graph(**made)
    with pytest.raises(InputError, match=cause) as caught:
        open_frame_backbone(name)
    assert caught.value.path.endswith("encoder.onnx") and "\n" not in caught.value.cause


def test_files_that_are_none(tmp_path, graph):
    with pytest.raises(InputError, match=r"none\.onnx: no such file"):
        open_frame_backbone(f"onnx:{tmp_path}/none.onnx")
    with pytest.raises(InputError, match="is a folder, not an ONNX file"):
        open_frame_backbone(f"onnx:{tmp_path}")
    with pytest.raises(UsageError, match="names no file"):
        open_frame_backbone("onnx:?size=8")
    for content in (b"", b"not a graph", b"\x08\x07"):
        (tmp_path / "text.onnx").write_bytes(content)
        with pytest.raises(InputError, match="not an ONNX model that can be run") as caught:
            open_frame_backbone(f"onnx:{tmp_path}/text.onnx")
        assert "\n" not in caught.value.cause


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("{", "cannot be read"),
        ("[]", r"cannot be read \(it should be an object"),
        ('{"size": "large"}', "size is no size in pixels: large"),
        ('{"image_mean": [1, 2]}', r"image_mean is \[1, 2\]; it must be one number or three"),
        ('{"image_std": 0}', "image_std is 0; it must be one positive number or three"),
        ('{"rescale_factor": "x"}', "rescale_factor is 'x'"),
    ],
)
def test_a_configuration_that_is_none(graph, tmp_path, content, cause):
    (tmp_path / "preprocessor_config.json").write_text(content)
    with pytest.raises(InputError, match=rf"preprocessor_config\.json: {cause}"):
        open_frame_backbone(graph(dynamic=ANY))


def test_what_is_not_installed_is_told_with_the_command(graph, monkeypatch):
    name = graph()
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name))
    with pytest.raises(
        MissingDependency, match=r"onnxruntime, which is not installed.\n.*pip install 'mmcc\[onnx\]' \(in"
    ):
        open_frame_backbone(name)
