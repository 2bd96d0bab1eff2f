"""Narration is added to copies of a corpus, in the ways that are compared."""

import json

import numpy as np
import pytest
from PIL import Image

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from scripts import narration_results
from scripts.narration_results import NARRATED, PLAIN, with_narration

STEP = [{"start": 0, "end": 4, "sentence": "cut the bread"}]
HEARD = [{"start": 0, "text": "hi guys", "useful": False}, {"start": 5, "text": "slice it", "useful": True}]


@pytest.mark.slow
def test_each_way_has_the_narration_it_names_and_the_plain_corpus_has_none(tmp_path, monkeypatch):
    data, out = tmp_path / "data", tmp_path / "out"
    (data / "youcook2").mkdir(parents=True)
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(data / "youcook2" / "0.jpg")
    seen = {"segments": STEP, "frames": [{"file": "0.jpg", "segment": 0, "time": 2}]}
    (data / "youcook2" / "videos.json").write_text(json.dumps({"seen": seen, "read": {"segments": STEP}}))
    narration = {name: {"sentences": HEARD} for name in ("seen", "read")}
    (data / "youcook2" / "narration.json").write_text(json.dumps(narration))
    plain = out / "plain.corpus"
    assert main(["ingest", str(data / "youcook2"), "-o", str(plain), "--size", str(narration_results.SIZE)]) == 0
    embedded = []
    monkeypatch.setattr(narration_results, "mmcc", lambda words: embedded.append(words[1]))
    said = {}
    for each in NARRATED:
        corpus = Corpus.open(with_narration(data, out, plain, each))
        said[each.model.label] = {video.id: [one.text for one in video.utterances] for video in corpus}
        assert embedded[-1] == str(corpus.path) and each.model.overrides == PLAIN.overrides
    steps = {"seen": ["cut the bread"], "read": ["cut the bread"]}
    assert said == {
        "narration apart": {**steps, "read narration": ["hi guys", "slice it"]},
        "narration apart, useful": {**steps, "read narration": ["slice it"]},
        "narration within, useful": {name: ["cut the bread", "slice it"] for name in steps},
    }
    assert {video.id: [one.text for one in video.utterances] for video in Corpus.open(plain)} == steps
