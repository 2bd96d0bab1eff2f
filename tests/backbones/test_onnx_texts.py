"""Text encoders from ONNX files with their tokenizers, both made here."""

import json
import random

import pytest
import torch
from torch import nn

from mmcc.backbones import open_text_backbone
from mmcc.errors import InputError, UsageError
from tests.backbones.exported import export

pytest.importorskip("onnxruntime", reason="extra onnx is not installed")
pytest.importorskip("onnx", reason="extra dev is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="extra onnx is not installed")
WORDS = ["[PAD]", "[UNK]", "cut", "the", "onion", "stir", "it"]
TEXTS = ["cut the onion", "stir", "cut it", "stir the onion stir it", "stir"]
IDS = torch.tensor([[2, 3, 4], [5, 6, 0]])
MASK = torch.tensor([[1, 1, 1], [1, 1, 0]])
TABLE = torch.linspace(-1, 1, len(WORDS) * 4).reshape(len(WORDS), 4) ** 3
BATCHES = {name: {0: "P", 1: "T"} for name in ("input_ids", "attention_mask", "token_type_ids")}


def vectors_of(text: str) -> torch.Tensor:
    """The embedding of each word."""
    return TABLE[[WORDS.index(word) for word in text.split()]]


def states(ids, mask=None, segments=None):
    """Words are looked up, padding too."""
    found = nn.functional.embedding(ids, TABLE)
    return found if segments is None else found + segments[..., None]


def pooled(ids, mask):
    weights = mask[..., None].float()
    return states(ids), 2 * (states(ids) * weights).sum(1) / weights.sum(1)


@pytest.fixture
def folder(tmp_path):
    write_tokenizer(tmp_path / "tokenizer.json")
    return tmp_path


def write_tokenizer(path, changes=lambda tokenizer: None):
    model = tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    changes(tokenizer)
    tokenizer.save(str(path))


def graph(folder, function=states, inputs=("input_ids", "attention_mask"), outputs=("states",), dynamic=BATCHES):
    values = {"input_ids": IDS, "attention_mask": MASK, "token_type_ids": torch.zeros_like(IDS)}
    given = {name: values.get(name, IDS) for name in inputs}
    path = export(folder / "text.onnx", function, given, outputs, {name: dynamic.get(name, {}) for name in given})
    return f"onnx:{path}"


def test_the_mean_of_the_tokens(folder):
    backbone = open_text_backbone(graph(folder, inputs=("input_ids", "attention_mask", "token_type_ids")))
    assert backbone.dims == 4
    found = backbone.embed(TEXTS)
    assert torch.allclose(found, torch.stack([vectors_of(text).mean(0) for text in TEXTS]), atol=1e-6)
    assert torch.allclose(found, torch.cat([backbone.embed([text]) for text in TEXTS]), atol=1e-6)
    assert backbone.embed([]).shape == (0, 4)
    assert torch.equal(backbone.embed(["", "stir"]), torch.stack([torch.zeros(4), found[1]]))  # nothing to read


def test_the_first_token(folder):
    name = graph(folder)
    one, other = open_text_backbone(name), open_text_backbone(f"{name}?pooling=cls")
    assert torch.allclose(other.embed(TEXTS), torch.stack([vectors_of(text)[0] for text in TEXTS]))
    assert one.checksum != other.checksum


def test_vectors_of_the_graph_come_first(folder):
    name = graph(folder, pooled, outputs=("states", "sentence_embedding"))
    means = torch.stack([vectors_of(text).mean(0) for text in TEXTS])
    for options, factor in (("", 2), ("?pooling=none", 2), ("?pooling=mean", 1), ("?output=states", 1)):
        assert torch.allclose(open_text_backbone(name + options).embed(TEXTS), factor * means, atol=1e-6), options


def test_a_graph_that_cannot_tell_padding_is_given_none(folder):
    def last(ids):
        return states(ids)[:, -1]

    backbone = open_text_backbone(graph(folder, last, ["input_ids"]))
    assert torch.allclose(backbone.embed(TEXTS), torch.stack([vectors_of(text)[-1] for text in TEXTS]))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_a_graph_of_a_fixed_number_of_texts_and_tokens(folder, dtype):
    path = export(
        folder / "fixed.onnx", pooled, {"input_ids": IDS.to(dtype), "attention_mask": MASK.to(dtype)}, ["s", "v"]
    )
    backbone = open_text_backbone(f"onnx:{path}")
    expected = torch.stack([2 * vectors_of(text)[:3].mean(0) for text in TEXTS])
    assert torch.allclose(backbone.embed(TEXTS), expected, atol=1e-6)
    with pytest.raises(UsageError, match="max_tokens is 4, but the graph takes 3"):
        open_text_backbone(f"onnx:{path}?max_tokens=4")


def test_how_many_tokens_are_read(folder, tmp_path):
    name = graph(folder)
    long = " ".join(random.Random(0).choices(WORDS[2:], k=600))

    def read(options=""):
        found = open_text_backbone(name + options).embed([long])[0]
        means = torch.cumsum(vectors_of(long), 0) / torch.arange(1, 601)[:, None]
        return (means - found).abs().sum(1).argmin().item() + 1

    assert read("?max_tokens=3") == 3
    assert read() == 256
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 5, "pad_token": {"content": "it"}}))
    assert read("?output=states") == 5
    write_tokenizer(tmp_path / "seven.json", lambda tokenizer: tokenizer.enable_truncation(7))
    assert read(f"?tokenizer={tmp_path}/seven.json") == 7


def test_checksums_are_of_the_tokenizer_too(folder):
    name = graph(folder)
    before = open_text_backbone(name).checksum
    write_tokenizer(
        folder / "other.json", lambda tokenizer: setattr(tokenizer, "normalizer", tokenizers.normalizers.Lowercase())
    )
    other = open_text_backbone(f"{name}?tokenizer={folder}/other.json")
    assert other.checksum != before
    assert torch.equal(other.embed(["STIR"]), open_text_backbone(name).embed(["stir"]))
    assert open_text_backbone(f"{name}?max_tokens=9").checksum != before


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        ({"inputs": ["tokens"]}, r"takes no input_ids \(inputs: tokens\)"),
        ({"function": lambda ids, p: states(ids) + p[..., None], "inputs": ["input_ids", "prompt"]}, "inputs prompt"),
        ({"function": lambda ids: ids[..., None] + ids[:, None], "inputs": ["input_ids"]}, "no output is a vector"),
    ],
)
def test_graphs_that_do_not_fit(folder, made, cause):
    with pytest.raises(InputError, match=cause) as caught:
        open_text_backbone(graph(folder, **made))
    assert caught.value.path.endswith("text.onnx") and "\n" not in caught.value.cause


def test_inputs_that_are_no_integers(folder):
    path = export(folder / "floats.onnx", lambda ids: ids * 2, {"input_ids": torch.zeros(1, 3)}, ["out"])
    with pytest.raises(InputError, match=r"input_ids is \[1, 3\] of float32, not \[texts, tokens\] of integers"):
        open_text_backbone(f"onnx:{path}")


def test_tokenizers_that_are_none(folder):
    name = graph(folder)
    with pytest.raises(InputError, match=r"none\.json: no such file, and a text encoder needs its tokenizer"):
        open_text_backbone(f"{name}?tokenizer={folder}/none.json")
    (folder / "tokenizer.json").write_text('{"version": 1}')
    with pytest.raises(InputError, match=r"tokenizer\.json: not a tokenizer\.json"):
        open_text_backbone(name)
    write_tokenizer(folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text("{")
    with pytest.raises(InputError, match=r"tokenizer_config\.json: cannot be read"):
        open_text_backbone(f"{name}?pooling=mean")


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("?size=8", r"unknown option 'size' \(known: tokenizer, max_tokens, output, pooling\)"),
        ("?pooling=max", "pooling is 'max'; it must be one of mean, cls, none"),
        ("?pooling=none", r"nothing to apply pooling=none to \(outputs: states \[any, 2, 4\]\)"),
        ("?max_tokens=0", "max_tokens is '0'; it must be a positive integer"),
    ],
)
def test_options_that_are_not_understood(folder, options, cause):
    with pytest.raises(UsageError, match=cause):
        open_text_backbone(graph(folder) + options)
