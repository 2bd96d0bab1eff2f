"""YouCook2's stills and sentences, read as narrated video."""

import json

import numpy as np
import pytest
from PIL import Image

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.youcook2 import read_youcook2
from mmcc.errors import InputError
from mmcc.media.utterances import Utterance

STEPS = [
    {"start": 10, "end": 20, "sentence": "cut the bread"},
    {"start": 30.5, "end": 40, "sentence": None},
    {"start": None, "end": None, "sentence": "serve"},
    {"start": 50, "end": 60, "sentence": "toast it"},
]


def write(folder, videos, pictures=()):
    folder.mkdir(exist_ok=True)
    (folder / "videos.json").write_text(json.dumps(videos))
    for number, name in enumerate(pictures):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((48, 64, 3), 40 * number, np.uint8)).save(folder / name, quality=95)
    return folder


def test_sentences_become_utterances_and_frames_stills_at_their_times(tmp_path, capsys):
    frames = [
        {"file": "frames/a/3.jpg", "segment": 3, "time": None},
        {"file": "frames/a/0.jpg", "segment": 0, "time": 15.5},
        {"file": "frames/a/2.jpg", "segment": 2, "time": None},
    ]
    videos = {"a": {"segments": STEPS, "frames": frames, "recipe_type": "101"}, "words": {"segments": STEPS[:1]}}
    root = write(tmp_path / "y", videos, [frame["file"] for frame in frames])
    source = find_source(root)
    assert source.summary[1].startswith("3 segments and frames")
    assert main(["ingest", str(root), "-o", str(tmp_path / "c"), "--size", "32"]) == 0
    assert "2 of 2 videos, 2 frames, 3 utterances" in capsys.readouterr().out
    corpus = Corpus.open(tmp_path / "c")
    video = corpus["a"]
    assert video.times.tolist() == [15.5, 55.0] and video.split == "train" and video.tasks == ["101"]
    assert [int(frame.mean()) for frame in video.frames()] == pytest.approx([40, 0], abs=2)
    assert video.utterances == [Utterance(10, 20, "cut the bread"), Utterance(50, 60, "toast it")]
    assert len(corpus["words"].times) == 0 and len(corpus["words"].utterances) == 1
    assert main(["ingest", str(root), "-o", str(tmp_path / "c"), "--size", "32"]) == 0
    assert "(2 done before)" in capsys.readouterr().out


def test_a_damaged_still_is_left_out_and_said(tmp_path, capsys):
    frames = [{"file": f"frames/{n}.jpg", "segment": 0, "time": n} for n in range(2)]
    root = write(tmp_path / "y", {"a": {"segments": STEPS, "frames": frames}}, [frames[0]["file"]])
    (root / frames[1]["file"]).write_bytes(b"no picture")
    assert main(["ingest", str(root), "-o", str(tmp_path / "c"), "--size", "32"]) == 0
    assert "partly decoded" in capsys.readouterr().out
    assert Corpus.open(tmp_path / "c")["a"].times.tolist() == [0]


def test_malformed_entries_are_skipped_with_a_reason_and_a_malformed_file_is_refused(tmp_path):
    videos = {
        "no segments": {},
        "not an object": [],
        "bad time": {"segments": [{"start": -1, "end": 2, "sentence": "cut"}]},
        "bad split": {"segments": STEPS, "split": "nowhere"},
        "good": {"segments": STEPS},
    }
    source = read_youcook2(write(tmp_path / "y", videos))
    assert [item.id for item in source.items] == ["good"] and len(source.skipped) == 4
    assert any("nowhere" in each.reason for each in source.skipped)
    for content in ("[]", "{", ""):
        (tmp_path / "y" / "videos.json").write_text(content)
        with pytest.raises(InputError, match=r"videos\.json"):
            read_youcook2(tmp_path / "y")


def test_the_real_file_is_read_whole(shared):
    source = read_youcook2(shared / "youcook2")
    assert len(source.items) == 1602 and not source.skipped and len(source.tasks) == 89
    assert sum(len(item.stills) for item in source.items) == 1350
    assert all(still.path.is_file() for item in source.items for still in item.stills)
