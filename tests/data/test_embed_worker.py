"""A worker embeds with the very encoder that was asked for, or not at all."""

import dataclasses

import pytest
import torch

from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Encoder
from mmcc.data.embed import embedder_of
from mmcc.data.embed_worker import EmbedJob, EmbedWorker
from mmcc.errors import InputError
from tests.backbones.exported import export
from tests.training.test_perception import grid


def test_another_version_of_an_encoder_is_refused_by_the_name_of_its_node(pictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dynamic = {"pixels": {0: "P"}, "vector": {0: "P"}}
    export(tmp_path / "grid.onnx", grid, {"pixels": torch.zeros(1, 3, 12, 12)}, ["vector"], dynamic)
    encoder = embedder_of("frames", "onnx:grid.onnx").encoder
    other = dataclasses.asdict(Encoder(encoder.name, "0" * 64, "frames", encoder.dims))
    job = EmbedJob(
        Corpus.open(pictures).ids[0], str(pictures), other, None, str(tmp_path / "00000.arrow"), (), str(tmp_path)
    )
    with pytest.raises(InputError, match=r"is another one on the node .*its checksum is .*, not 000000000000"):
        EmbedWorker().handle(dataclasses.asdict(job), lambda seconds, total: None)
    assert not (tmp_path / "00000.arrow").exists()
