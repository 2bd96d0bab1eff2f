"""What a report says about the data that a model was trained on."""

import re
import shutil

import yaml

from mmcc.corpus import Corpus
from mmcc.data.splits import videos_for
from mmcc.evaluation.runs import find_checkpoint
from mmcc.report.training import data, lead, trained_on
from tests.sealed import reseal


def test_only_videos_that_it_learned_from_are_counted_and_shown(kitchen, tmp_path):
    """As if some of the training videos had too little narration to learn from."""
    model, corpus = kitchen.model(), Corpus.open(kitchen.corpus)
    training, test = (videos_for(corpus, purpose, 0.05) for purpose in ("train", "test"))
    fewest = min(len(corpus[video].utterances) for video in training)
    folder = shutil.copytree(model.folder, tmp_path / "checkpoint")
    settings = yaml.safe_load((folder / "config.yaml").read_text())
    settings["data"]["min_utterances"] = fewest + 1
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    found = find_checkpoint(reseal(folder))
    learned = trained_on(found, corpus)
    assert 0 < len(learned) < len(training) and set(learned) < set(training)
    told = lead(model, found, corpus, test[:1])
    assert f"from {len(learned)} narrated video" in told and "shown 1 other video, which" in told
    (section,) = data(model, found, corpus, test)
    shown = set(re.findall(r"kitchen0-\d+", "".join(section.blocks)))
    assert shown and shown <= set(learned)
