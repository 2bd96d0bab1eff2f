"""Where a video's words come from, and what is remembered when they could not be obtained."""

import pytest

from mmcc.corpus import worker
from mmcc.errors import InputError
from mmcc.media.captions import Cue

SRT = "1\n00:00:00,500 --> 00:00:02,000\nCut the onion.\n"


@pytest.fixture
def job(make_clip, tmp_path):
    clip = make_clip("soup.mp4", seconds=2)

    def make(**changes):
        facts = {"id": "soup", "media": str(clip), "captions": None, "caption_span": None, "caption_kind": "",
                 "shard": "", "encoding": "raw", "quality": 90, "sampling": {}, "feature_rate": None,
                 "feature_dims": None, "transcribe": True, "language": "en"}  # fmt: skip
        return worker.VideoJob(**{**facts, **changes})

    return make


def narration(job):
    return worker._narration(job, lambda seconds, total: None)


def hears(monkeypatch, result):
    def transcribe(path, heard):
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr("mmcc.media.speech.transcribe", transcribe)


def test_captions_come_before_speech(job, tmp_path, monkeypatch):
    hears(monkeypatch, [Cue(0, 1, "something else")])
    (tmp_path / "soup.srt").write_text(SRT)
    answer = narration(job(captions=str(tmp_path / "soup.srt"), caption_kind="manual"))
    assert answer["caption_kind"] == "manual" and answer["utterances"][0]["text"] == "Cut the onion."


def test_captions_that_cannot_be_read_give_way_to_speech_and_are_reported(job, tmp_path, monkeypatch):
    hears(monkeypatch, [Cue(0, 1, "cut it")])
    (tmp_path / "soup.srt").write_bytes(b"no captions")
    answer = narration(job(captions=str(tmp_path / "soup.srt"), caption_kind="manual"))
    assert answer["caption_kind"] == "transcribed" and "no captions" in answer["caption_error"]


def test_silence_is_remembered_but_a_recogniser_that_failed_is_not_mistaken_for_silence(job, monkeypatch):
    hears(monkeypatch, [])
    assert narration(job()) == {"caption_kind": "transcribed", "caption_error": None}
    hears(monkeypatch, InputError("soup.mp4", "its speech could not be recognized", "Try again."))
    answer = narration(job())
    assert answer["caption_kind"] is None and "could not be recognized. Try again." in answer["caption_error"]


def test_subtitles_inside_come_after_a_caption_file(job, ffmpeg, tmp_path, monkeypatch):
    (tmp_path / "inner.srt").write_text(SRT)
    ffmpeg("-i", tmp_path / "soup.mp4", "-i", tmp_path / "inner.srt", "-c:v", "copy", "-c:s", "srt", tmp_path / "a.mkv")
    answer = narration(job(media=str(tmp_path / "a.mkv"), transcribe=False))
    assert answer["caption_kind"] == "embedded" and answer["utterances"][0]["text"] == "Cut the onion."
