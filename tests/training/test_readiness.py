"""What there is to learn from: counted by hand, said in a few lines, and refused if it is too little."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.data import UsableVideos
from mmcc.data.config import DataConfig
from mmcc.data.vocabulary import Vocabulary, has_words
from mmcc.errors import InputError
from mmcc.training.readiness import ENOUGH_VIDEOS, LEAST_VIDEOS, Readiness, assess, check
from tests.corpus.test_corpus import build
from tests.corpus.test_embeddings import COLOURS, colours, embed

PLENTY = Readiness(
    videos=400, training_videos=410, unusable="no captions (10)", without_captions=10, validation=11, hours=12.3,
    frames=44_000, utterances=9_000, texts=7_000, vocabulary=800, segments=400, batch_size=16,
)  # fmt: skip
ROOT = Path(__file__).parents[2]
SMALL = "--model.dims 8 --train.batch_size 2 --train.workers 0 --train.steps 1 --train.validation_segments 2".split()


def test_the_figures_by_hand(vectors_corpus):
    config = DataConfig()
    videos, held_out = (UsableVideos(vectors_corpus, purpose, config) for purpose in ("train", "validation"))
    found = assess(videos, held_out, Vocabulary(["egg", "milk"]), batch_size=3)
    used = [vectors_corpus[video] for video in videos.ids]
    said = [each.text for video in used for each in video.utterances if has_words(each.text)]
    seconds = [video.times[-1] - video.times[0] + 1 for video in used]  # a frame per second
    assert (found.videos, found.training_videos, found.unusable) == (len(used), len(used), "")
    assert (found.validation, found.without_captions) == (len(held_out.ids), 0)
    assert found.hours == pytest.approx(sum(seconds) / 3600) and found.frames == sum(len(video.times) for video in used)
    assert found.utterances == len(said) and found.texts == len({text.lower() for text in said})
    assert (found.vocabulary, found.batch_size) == (2, 3)
    assert found.segments == sum(-(-round(each) // 128) for each in seconds)
    assert assess(videos, None, None, 3) == replace(found, validation=0, vocabulary=None)


def test_no_video_is_opened_to_be_counted(vectors_corpus, monkeypatch):
    videos = UsableVideos(vectors_corpus, "train", DataConfig())
    expected = assess(videos, None, None, 3)
    fresh = UsableVideos(Corpus.open(vectors_corpus.path), "train", DataConfig())
    monkeypatch.setattr(Corpus, "__getitem__", lambda *_: pytest.fail("a video was opened"))
    assert assess(fresh, None, None, 3) == expected


def test_where_vectors_take_the_place_of_frames_it_is_they_that_count(tmp_path, monkeypatch):
    said = [{"start": float(at), "end": at + 2.0, "text": f"stir {at}"} for at in range(0, 60, 5)]
    times = {f"v{number}": [float(each) for each in range(60 + number)] for number in range(12)}
    embed(build(tmp_path / "c", "raw", times, utterances=said), COLOURS, colours, fps=0.5)
    seen = with_vectors(Corpus.open(tmp_path / "c"), frames=Wanted("colours"))
    videos = UsableVideos(seen, "train", DataConfig())
    used = [seen[video].times for video in videos.ids]
    monkeypatch.setattr(Corpus, "__getitem__", lambda *_: pytest.fail("a video was opened"))
    found = assess(videos, None, None, 3)
    assert found.frames == sum(map(len, used)) and found.utterances == 12 * len(used) and found.texts == 12
    assert found.hours == pytest.approx(sum(each[-1] - each[0] + 2 for each in used) / 3600)


def test_enough_of_everything_is_said_in_three_lines():
    assert PLENTY.problems == PLENTY.warnings == ()
    assert PLENTY.lines() == [
        "training on 400 of 410 videos (not used: no captions (10))",
        "they have 12.3 hours, 44,000 frames, 9,000 utterances, a vocabulary of 800 words",
        "validation on 11 other videos",
    ]
    assert "vocabulary" not in "".join(replace(PLENTY, vocabulary=None).lines())


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"videos": 9}, "9 videos with captions (at least 10 are needed)"),
        ({"hours": 0.05}, "3.0 minutes of video (at least 10 are needed)"),
        ({"utterances": 1_000}, "2.5 utterances per video (at least 3 are needed)"),
        ({"vocabulary": 2}, "a vocabulary of 2 words (at least 50 are needed)"),
        ({"texts": 1}, "1 different caption (at least 50 are needed)"),
        ({"segments": 15}, "15 segments, fewer than one batch (--train.batch_size 16)"),
    ],
)
def test_each_thing_of_which_there_is_too_little(change, problem):
    assert replace(PLENTY, **change).problems == (problem,)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"videos": ENOUGH_VIDEOS - 1}, "How many videos are enough"),
        ({"validation": 0}, "the last checkpoint counts as the best"),
        ({"without_captions": 206}, "--transcribe"),
    ],
)
def test_each_warning(change, words):
    found = replace(PLENTY, **change)
    (warning,) = found.warnings
    assert words in warning and f"warning: {warning}" in found.lines() and not found.problems


def test_the_page_that_the_messages_name_has_that_section():
    assert "\n## How many videos are enough\n" in (ROOT / "docs/training.md").read_text()


counts = st.integers(0, 400)


@given(
    st.builds(
        Readiness, videos=st.integers(1, 400), training_videos=counts, unusable=st.just(""), without_captions=counts,
        validation=counts, hours=st.floats(0, 2), frames=counts, utterances=counts, texts=counts,
        vocabulary=st.none() | counts, segments=counts, batch_size=st.integers(1, 64),
    ),
    st.sampled_from(["hours", "utterances", "vocabulary", "texts", "segments"]),
    st.integers(1, 100),
)  # fmt: skip
def test_more_is_never_worse(found, what, more):
    if getattr(found, what) is not None:
        better = replace(found, **{what: getattr(found, what) + more})
        assert len(better.problems) <= len(found.problems)


def test_too_little_is_refused_or_trained_on_anyway():
    said, poor = [], replace(PLENTY, videos=LEAST_VIDEOS - 1, vocabulary=2)
    with pytest.raises(InputError) as caught:
        check(poor, Path("clips.corpus"), anyway=False, say=said.append)
    assert caught.value.path == "clips.corpus" and all(problem in caught.value.cause for problem in poor.problems)
    assert "--anyway" in caught.value.remedy and "anyway=True" in caught.value.remedy and said == poor.lines()
    check(poor, Path("clips.corpus"), anyway=True, say=said.append)
    assert said[-1] == f"{caught.value.cause}; training anyway"
    check(PLENTY, Path("clips.corpus"), anyway=False, say=said.append)
    assert said[-1] == PLENTY.lines()[-1]


@pytest.fixture
def nine_clips(make_clip, tmp_path):
    """What a new user tries first: short clips, of which a few have something said."""
    for number in range(9):
        clip = make_clip(f"clips/clip {number}.mp4", seconds=9)
        said = ["so hello", "here we go"] if number % 4 else ["so"]
        cues = [f"00:0{6 * at}.000 --> 00:0{6 * at + 2}.000\n{text}\n" for at, text in enumerate(said)]
        clip.with_suffix(".vtt").write_text("\n".join(["WEBVTT\n", *cues]))
    assert main(["ingest", str(tmp_path / "clips"), "-o", str(tmp_path / "clips.corpus"), "--size", "32"]) in (0, 4)
    return tmp_path / "clips.corpus"


def test_nine_clips_are_refused_before_anything_is_written(nine_clips, tmp_path, capsys):
    train = ["train", str(nine_clips), "-o", str(tmp_path / "runs" / "one"), "--model.frame_encoder.width", "4", *SMALL]
    capsys.readouterr()
    assert main(train) == 3
    told = capsys.readouterr().err.splitlines()
    assert len(told) <= 6 and told[0].startswith("training on ") and not (tmp_path / "runs").exists()
    assert told[-2].startswith(f"mmcc: {nine_clips}: too little to learn from: ") and "a vocabulary of " in told[-2]
    assert main([*train, "--anyway"]) == 0
    assert "training anyway" in capsys.readouterr().err
    assert main([*train[:4], "--resume", "--train.steps", "2"]) == 0  # it was checked when it began
    assert "too little" not in capsys.readouterr().err


def test_the_api_refuses_and_overrides_too(kitchens, tmp_path):
    import mmcc

    corpus = Corpus.open(kitchens.kitchen_corpus(videos=8, size=32).pictures)
    small = [*"model.dims=8 train.batch_size=2 train.workers=0 train.steps=1 model.frame_encoder.width=4".split()]
    with pytest.raises(mmcc.InputError, match=r"too little to learn from: [1-8] videos? with captions"):
        mmcc.train(None, corpus, tmp_path / "run", overrides=small)
    assert mmcc.train(None, corpus, tmp_path / "run", overrides=small, anyway=True).steps == 1


def test_vectors_have_no_sound_to_recognize_speech_in(vectors_corpus):
    silent = replace(PLENTY, without_captions=PLENTY.training_videos)
    assert "--transcribe" in silent.warnings[-1]
    assert "add caption files" in replace(silent, has_sound=False).warnings[-1]
    assert "--transcribe" not in replace(silent, has_sound=False).warnings[-1]
    assert not assess(UsableVideos(vectors_corpus, "train", DataConfig()), None, None, 1).has_sound
