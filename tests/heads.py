"""A model of heads on frozen encoders: a kitchen embedded by a tiny exported network and by MiniLM, and trained on."""

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.kitchens import KitchenStore


class Heads(NamedTuple):
    corpus: Path  # with stored vectors of every frame and utterance
    plain: Path  # the same without
    run: Path
    encoder: str

    @property
    def checkpoint(self) -> Path:
        (folder,) = (self.run / "checkpoints").iterdir()
        return folder


def make_heads(kitchens: KitchenStore, folder: Path) -> Heads:
    import torch

    from mmcc.cli.main import main
    from mmcc.training.loop import train
    from tests.backbones.exported import export
    from tests.training.tiny_runs import tiny_config

    plain, corpus = kitchens.kitchen_corpus(videos=12, tasks=3, size=32).pictures, folder / "kitchen.corpus"
    shutil.copytree(plain, corpus)
    size = {"pixels": torch.zeros(1, 3, 12, 12)}
    graph = export(folder / "grid.onnx", _grid, size, ["vector"], {"pixels": {0: "P"}, "vector": {0: "P"}})
    encoder = f"onnx:{graph}"
    assert main(["embed", str(corpus), "--frames", encoder, "--text", "minilm"]) == 0
    heads = [f"model.frame_encoder={encoder}", "model.frame_encoder.components=6", "model.text_encoder=minilm"]
    config = tiny_config(*heads, "model.text_encoder.components=8", "train.steps=2")
    train(corpus, folder / "run", config, anyway=True, say=lambda line: None)
    return Heads(corpus, plain, folder / "run", encoder)


def _grid(pixels):
    """A small picture of the picture, as an encoder would see it."""
    import torch

    return torch.nn.functional.adaptive_avg_pool2d(pixels, 3).flatten(1)
