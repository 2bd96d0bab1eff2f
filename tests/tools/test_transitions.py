"""Transitions of footage: those of the evaluation, cached."""

import json
import math
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.evaluation.transitions import salient_transitions, transition_factors
from mmcc.tools import transitions
from mmcc.tools.cache import Cache
from mmcc.tools.transitions import (
    Change,
    FoundChanges,
    Narration,
    VideoChanges,
    find_changes,
    to_json,
)


def stand_in(name="soup.mp4", times=(0.0, 5.0, 65.0), said=("peel", "", "mash")):
    """Footage of which only times and words are looked at."""
    texts = dict(zip(times, said, strict=True))
    video = SimpleNamespace(times=np.array(times))
    return SimpleNamespace(name=name, full_path=f"/videos/{name}", key=name, video=video, said_at=texts.get)


def change(footage, u, v, score=2.0):
    return Change(footage, u, v, -10.0, score)


def test_they_are_the_tasks_own(kitchen):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    (footage, _) = kitchen.footage()
    for any_direction in (False, True):
        found = find_changes(model, [footage], cache, any_direction=any_direction, keep_blank=True)
        video = footage.embedded(model, cache)
        expected = salient_transitions(model.adapter, video, top=100, forward_only=not any_direction, gap=3)
        assert [(c.from_frame, c.to_frame) for c in found.videos[0].changes] == [
            (each.from_frame, each.to_frame) for each in expected
        ]
        best = found.videos[0].changes[0]
        assert (best.from_time, best.to_time) == (expected[0].from_time, expected[0].to_time)
        assert best.log_probability == pytest.approx(expected[0].log_probability)
    assert all(c.to_time > c.from_time for c in find_changes(model, [footage], cache).best(100))


def test_the_score_compares_with_a_model_that_knows_nothing(kitchen):
    """Where every factor is uniform, the score of each pair is 0; and 1 is ten times as likely."""
    model, cache = kitchen.model(), Cache(kitchen.cache)
    footage = kitchen.footage()[0]
    best = find_changes(model, [footage], cache).best(1)[0]
    n = len(footage.video.times)
    uniform = 1 / (n - 1) / (n - 1) / n / n
    assert best.score == pytest.approx(math.log10(math.exp(best.log_probability) / uniform), abs=1e-6)
    from_nE, to_nE = transition_factors(model.adapter, footage.embedded(model, cache))
    by_hand = float((from_nE[best.from_frame] * to_nE[best.to_frame]).sum())
    assert best.log_probability == pytest.approx(by_hand, abs=1e-3)
    assert transitions._log_chance(11, True) == pytest.approx(math.log(1 / 121 / 100))
    assert transitions._log_chance(11, False) == pytest.approx(math.log(1 / 121 / 10))


def test_narration_is_rated_by_what_is_seen(kitchen):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    footage = kitchen.footage()[0]
    (video,) = find_changes(model, [footage], cache).videos
    embedded = footage.embedded(model, cache)
    k = len(video.narration.texts) // 2
    by_hand = max(float(embedded.utterances.pi[k] @ frame) for frame in embedded.frames.pi)
    assert video.narration.concreteness[k] == pytest.approx(by_hand, abs=1e-5)
    assert video.narration.texts[k] in [each.text for each in footage.video.utterances]


def test_over_several_videos_the_best_come_first():
    one, other = stand_in("a"), stand_in("b")
    nothing = Narration([], [], [])
    videos = [
        VideoChanges(one, [change(one, 0, 1, 3.0), change(one, 1, 2, 2.5)], nothing),
        VideoChanges(other, [change(other, 0, 2, 2.7), change(other, 0, 1, 1.0)], nothing),
    ]
    found = FoundChanges(videos, [])
    assert [(c.footage.name, c.score) for c in found.best(3)] == [("a", 3.0), ("b", 2.7), ("a", 2.5)]
    assert [c.score for c in found.best(9, per_video=1)] == [3.0, 2.7]
    still = VideoChanges(one, [change(one, 0, 1, 0.29)], nothing)
    assert found.notes == [] and FoundChanges([still], []).notes[0].startswith("a: nothing changes clearly")


def test_json_has_the_documented_form():
    told = to_json([change(stand_in(), 0, 2)], [], ["far from home"])
    assert json.loads(json.dumps(told)) == {
        "schema": 1,
        "transitions": [
            {
                "video": "soup.mp4",
                "path": "/videos/soup.mp4",
                "from": 0.0,
                "to": 65.0,
                "score": 2.0,
                "log_probability": -10.0,
                "from_text": "peel",
                "to_text": "mash",
            }
        ],
        "skipped": [],
        "warnings": ["far from home"],
    }


def test_the_verb(kitchen, tmp_path, capsys):
    asked = ["transitions", str(kitchen.run), *map(str, kitchen.videos[:2])]
    sheet = tmp_path / "sheet.png"
    assert main([*asked, "--top", "3", "--sheet", str(sheet)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 4 and all(any(path.name in line for path in kitchen.videos[:2]) for line in shown[1:])
    assert Image.open(sheet).width > 4 * 144
    assert main([*asked, "--top", "3", "--per-video", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["video"] for each in told["transitions"]] != []
    assert len({each["video"] for each in told["transitions"]}) == len(told["transitions"]) == 2
    assert told["transitions"][0]["score"] >= told["transitions"][1]["score"]


@pytest.mark.slow
def test_two_videos_of_one_name_and_content_are_told_apart(kitchen, tmp_path, capsys):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy2(kitchen.videos[2], tmp_path / folder / "v.mp4")  # the same size and time, too
    videos = [str(tmp_path / folder / "v.mp4") for folder in ("a", "b")]
    assert main(["transitions", str(kitchen.run), *videos, "--per-video", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {(each["video"], each["path"]) for each in told["transitions"]} == {
        ("a/v.mp4", videos[0]),
        ("b/v.mp4", videos[1]),
    }
    assert main(["transitions", str(kitchen.run), *videos, "--export", str(tmp_path / "out")]) == 0
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_the_second_question_needs_no_torch(kitchen, without_torch):
    find_changes(kitchen.model(), kitchen.footage(), Cache(kitchen.cache))
    done = without_torch.mmcc("transitions", kitchen.run, kitchen.videos[0], "--top", 2)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 3


def test_what_cannot_be_used_is_said(kitchen, tmp_path, capsys):
    text = tmp_path / "notes.mp4"
    text.write_text("this is no video")
    assert main(["transitions", str(kitchen.run), str(kitchen.videos[0]), str(text), "--json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert [each["path"] for each in told["skipped"]] == [str(text)] and told["skipped"][0]["reason"]
    assert main(["transitions", str(kitchen.run), str(tmp_path / "nothing.mp4")]) == 3
    (tmp_path / "empty").mkdir()
    assert main(["transitions", str(kitchen.run), str(tmp_path / "empty")]) == 3
    assert main(["transitions", str(tmp_path), str(kitchen.videos[0])]) == 3
    assert (
        main(["transitions", str(kitchen.run), str(kitchen.videos[0]), "--sheet", str(tmp_path / "no" / "s.png")]) == 3
    )
    errors = capsys.readouterr().err
    assert "Traceback" not in errors and "cannot be written" in errors
    for bad in (["--top", "0"], ["--window", "-1"], ["--top", "many"]):
        with pytest.raises(SystemExit) as stopped:
            main(["transitions", str(kitchen.run), str(kitchen.videos[0]), *bad])
        assert stopped.value.code == 2


def test_a_single_frame_does_not_change(kitchen, make_clip):
    clip = make_clip("still.mp4", seconds=0.5, rate=2)
    with pytest.raises(InputError, match="single frame"):
        find_changes(kitchen.model(), kitchen.footage(clip), Cache(kitchen.cache))
    found = find_changes(kitchen.model(), kitchen.footage(clip, kitchen.videos[0]), Cache(kitchen.cache))
    assert [each.path for each in found.skipped] == ["still.mp4"] and len(found.videos) == 1


def test_before_and_after_are_apart(kitchen):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    (footage, _) = kitchen.footage()
    apart = [
        [abs(each.to_time - each.from_time) for each in find_changes(model, [footage], cache, gap=gap).best(100)]
        for gap in (0, 3, 30)
    ]
    assert min(apart[0]) < 3 <= min(apart[1]) < 30 <= min(apart[2])
    assert min(abs(each.to_time - each.from_time) for each in find_changes(model, [footage], cache).best(100)) >= 3
    with pytest.raises(InputError, match=r"no two frames that are 1e\+06 s apart\. Lower --gap"):
        find_changes(model, [footage], cache, gap=1e6)


@pytest.fixture
def with_titles(make_clip):
    """Black, a test card, and white: 4 s each."""
    joined = "color=black:size=64x48:rate={rate}:d=4[a];testsrc2=size={size}:rate={rate}:d=4[b];"
    joined += "color=white:size=64x48:rate={rate}:d=4[c];[a][b][c]concat=n=3"
    return make_clip("titled.mp4", seconds=12, picture=joined)


def test_blank_frames_are_left_out_unless_they_are_wanted(kitchen, with_titles, capsys):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    footage = kitchen.footage(with_titles)
    for keep_blank in (False, True):
        (video,) = find_changes(model, footage, cache, gap=0, window=0, keep_blank=keep_blank).videos
        used = {time for each in video.changes for time in (each.from_time, each.to_time)}
        assert (min(used) < 4, max(used) >= 8) == (keep_blank, keep_blank) and video.blank == (0 if keep_blank else 8)
    assert main(["transitions", str(kitchen.run), str(with_titles), "--gap", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(4 <= each["from"] < each["to"] < 8 for each in told["transitions"])
    assert any("8 frames left out: blank, fades or titles (--keep-blank" in line for line in told["warnings"])


def test_a_video_of_nothing_is_skipped_with_the_remedy(kitchen, make_clip):
    clip = make_clip("black.mp4", seconds=5, picture="color=black:size={size}:rate={rate}")
    with pytest.raises(InputError, match=r"nothing but blank frames, fades and titles\. --keep-blank keeps them"):
        find_changes(kitchen.model(), kitchen.footage(clip), Cache(kitchen.cache))


def test_others_pass_while_blank_frames_are_looked_for(tmp_path):
    """Seconds of it, of a long video: a server answers questions between batches."""
    told = []
    video = SimpleNamespace(times=np.arange(40.0), frames=lambda first, end: np.zeros((end - first, 8, 8, 3), np.uint8))
    corpus = SimpleNamespace(manifest=SimpleNamespace(encoding="jpeg"))
    footage = SimpleNamespace(video=video, key="soup", corpus=corpus)
    found = transitions._blank_frames(SimpleNamespace(between=told.append), footage, Cache(tmp_path))
    assert found.all() and len(found) == 40 and told == [1.0] * 3
