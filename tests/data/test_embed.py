"""Encoders over a corpus by the command line: in one pass with the ingest, or afterwards."""

import numpy as np
import pytest
import torch

from mmcc.backbones import open_frame_backbone, open_text_backbone
from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.data.embed import embed
from mmcc.errors import UsageError
from tests.backbones.exported import export
from tests.training.test_perception import grid

CUES = "WEBVTT\n\n00:00.000 --> 00:01.500\nmelt the butter\n\n00:02.000 --> 00:03.000\nfold in the gochujang\n"


@pytest.fixture
def encoder(tmp_path):
    size = torch.zeros(1, 3, 12, 12)
    dynamic = {"pixels": {0: "P"}, "vector": {0: "P"}}
    return f"onnx:{export(tmp_path / 'grid.onnx', grid, {'pixels': size}, ['vector'], dynamic)}"


def test_ingest_and_encode_in_one_command(make_clip, tmp_path, encoder, capsys):
    make_clip("src/soup.mp4", seconds=3)
    (tmp_path / "src" / "soup.vtt").write_text(CUES)
    corpus = tmp_path / "c"
    assert main(["ingest", str(tmp_path / "src"), "-o", str(corpus), "--encode", encoder]) == 0
    said = capsys.readouterr().err
    assert f"3 frames of 1 video by {encoder}" in said and "1 utterance of 1 video by minilm" in said
    assert main(["inspect", str(corpus)]) == 0
    assert f"embeddings  minilm, {encoder}" in capsys.readouterr().out
    opened = Corpus.open(corpus)
    assert opened.manifest.size == 12, "as large as the encoder reads, unless --size says otherwise"
    (video,) = with_vectors(opened, frames=Wanted(encoder), text=Wanted("minilm"))
    pictures, texts = opened[video.id].frames(), [said.text for said in video.utterances]
    assert np.allclose(video.frames(), open_frame_backbone(encoder)(torch.from_numpy(pictures)), atol=1e-5)
    assert np.allclose(video.text_vectors, open_text_backbone("minilm").embed(texts), atol=1e-5)


def test_vectors_are_finite_or_refused(make_clip, tmp_path):
    make_clip("src/soup.mp4", seconds=2)
    assert main(["ingest", str(tmp_path / "src"), "-o", str(tmp_path / "c"), "--size", "12"]) == 0
    size, dynamic = torch.zeros(1, 3, 12, 12), {"pixels": {0: "P"}, "vector": {0: "P"}}
    path = export(tmp_path / "nan.onnx", lambda x: grid(x) * torch.nan, {"pixels": size}, ["vector"], dynamic)
    with pytest.raises(UsageError, match="NaN or Inf"):
        embed(Corpus.open(tmp_path / "c"), frames=[f"onnx:{path}"])


def test_encode_is_not_for_features(tmp_path, encoder, capsys):
    (tmp_path / "src").mkdir()
    words = ["ingest", str(tmp_path / "src"), "-o", str(tmp_path / "c"), "--features", "1", "--encode", encoder]
    assert main(words) == 2 and "features are encoded already" in capsys.readouterr().err
