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


HEARD = [
    {"start": 2.5, "text": "hi guys", "useful": False},
    {"start": 15.0, "text": "cut it thin", "useful": True},
    {"start": 40.0, "text": "enjoy", "useful": True},
]


@pytest.fixture
def narrated(tmp_path):
    """Two listed videos, one of them with a still, and narration of both and of one that is not listed."""
    frames = [{"file": "0.jpg", "segment": 0, "time": 15}]
    videos = {"seen": {"segments": STEPS[:1], "frames": frames}, "read": {"segments": STEPS[:1]}}
    root = write(tmp_path / "y", videos, ["0.jpg"])
    heard = {name: {"sentences": HEARD[::-1]} for name in ("seen", "read", "other")}
    (root / "narration.json").write_text(json.dumps({**heard, "silent": {"sentences": []}, "bad": {"sentences": [1]}}))
    return root


def test_narration_becomes_videos_of_its_own_where_no_still_is_kept_for_testing(narrated, tmp_path, capsys):
    words = ["ingest", str(narrated), "-o", str(tmp_path / "c"), "--size", "32"]
    assert main(words) == 0, "without being asked, nothing is added"
    assert main([*words, "--captions", str(narrated / "narration.json")]) == 4
    assert "1 skipped" in (said := capsys.readouterr().out) and "bad: malformed" in said
    corpus = Corpus.open(tmp_path / "c")
    assert corpus.ids == ["other narration", "read", "read narration", "seen"]
    heard = [Utterance(2.5, 15, "hi guys"), Utterance(15, 40, "cut it thin"), Utterance(40, 45, "enjoy")]
    assert corpus["read narration"].utterances == corpus["other narration"].utterances == heard
    assert corpus["seen"].utterances == corpus["read"].utterances == [Utterance(10, 20, "cut the bread")]
    assert corpus["read narration"].split == "train" and len(corpus["read narration"].times) == 0


def test_narration_can_be_further_utterances_and_only_what_is_useful(narrated):
    source = read_youcook2(narrated, narrated / "narration.json", apart=False, useful=True)
    said = {item.id: [each.text for each in item.utterances] for item in source.items}
    both = ["cut the bread", "cut it thin", "enjoy"]
    assert said == {"seen": both, "read": both, "other narration": both[1:]}
    assert source.items[0].utterances[1] == Utterance(15, 40, "cut it thin"), "it ends where the next one starts"
    for content in ("[]", "{"):
        (narrated / "narration.json").write_text(content)
        with pytest.raises(InputError, match=r"narration\.json"):
            read_youcook2(narrated, narrated / "narration.json")


def test_the_real_file_is_read_whole(shared):
    source = read_youcook2(shared / "youcook2")
    assert len(source.items) == 1602 and not source.skipped and len(source.tasks) == 89
    assert sum(len(item.stills) for item in source.items) == 1350
    assert all(still.path.is_file() for item in source.items for still in item.stills)


def test_the_real_narration_is_read_whole(shared):
    root = shared / "youcook2"
    apart = read_youcook2(root, root / "narration.json")
    assert len(apart.items) == 1602 + 237 and not apart.skipped
    within = read_youcook2(root, root / "narration.json", apart=False)
    assert sum(len(item.utterances) for item in within.items) == 12361 + 14396
