"""The figures of `inspect`, against values worked out by hand."""

import pytest
from PIL import Image

from mmcc.corpus import Corpus
from mmcc.corpus.format import Manifest, shard_path
from mmcc.corpus.index import IndexWriter
from mmcc.corpus.shards import ShardWriter
from mmcc.corpus.source import Task
from mmcc.corpus.summary import render_summary, summarise
from mmcc.errors import InputError
from mmcc.report.contact_sheet import draw_sheet


def said(*utterances: tuple[float, float, str]) -> list[dict[str, object]]:
    return [{"start": start, "end": end, "text": text} for start, end, text in utterances]


def shown(*steps: tuple[int, float, float]) -> list[dict[str, object]]:
    return [{"step": step, "start": start, "end": end} for step, start, end in steps]


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    (tmp_path / "c" / "shards").mkdir(parents=True)
    tasks = {
        "7": Task("7", "Fry an onion", ("cut the onion", "heat oil", "add onion to pan")),
        "8": Task("8", "Rest", ()),
    }
    Manifest("raw", 1.0, 8, tasks=tasks, complete=True).save(tmp_path / "c")
    writer = ShardWriter(shard_path(tmp_path / "c", 0))
    for time in range(3):
        writer.add("a", float(time), bytes(8 * 8 * 3))
    batches = [batch._asdict() for batch in writer.finish("a")]
    writer.close()
    common = {"status": "ok", "split": "train", "mode": "fast"}
    rows = [
        # 60 s: speech covers 0-4 and 10-14, with an overlap at 12-13; steps cover 2-12 and 50-60
        {"id": "a", **common, "tasks": ["7"], "duration": 60.0, "decoded": 60.0, "caption_kind": "manual",
         "times": [0.0, 1.0, 2.0], "height": 8, "width": 8, "shard": 0, "batches": batches, "source": "a.mp4",
         "utterances": said((0, 4, "now cut this onion small"), (10, 13, "oil in the pan"), (12, 14, "and so on")),
         "steps": shown((1, 2, 12), (2, 8, 10), (3, 50, 70))},
        # 120 s, half of it lost, nothing said
        {"id": "b", **common, "status": "partial", "duration": 120.0, "decoded": 60.0, "source": "b.mp4", "tasks": []},
        {"id": "c", "status": "failed", "reason": "broken", "source": "c.mp4", "tasks": ["7"], "split": "train"},
        {"id": "d", "status": "absent", "tasks": ["7", "8"], "split": "train", "steps": shown((1, 0, 1))},
    ]  # fmt: skip
    index = IndexWriter(tmp_path / "c")
    index.append(rows)
    index.close()
    return Corpus.open(tmp_path / "c")


def test_counts_coverage_and_speed_of_speech(corpus):
    summary = summarise(corpus)
    assert (summary.videos, summary.frames, summary.utterances, summary.words) == (2, 3, 3, 12)
    assert summary.hours == pytest.approx(180 / 3600) and summary.median_seconds == 90
    assert summary.words_per_minute == pytest.approx(12)  # in the 60 s of the video that has captions
    assert summary.speech_coverage == pytest.approx((4 + 4) / 60)
    assert summary.step_coverage == pytest.approx((10 + 10) / 60)  # a step does not outlast its video
    assert summary.decoded_coverage == pytest.approx(120 / 180)


def test_caption_lag_is_from_a_step_to_the_words_that_name_it(corpus):
    # "cut the onion" at 2 s is named at 0 s: -2. "heat oil" at 8 s is named at 10 s: +2. The third, at 50 s, is named
    # by no utterance within 30 s.
    summary = summarise(corpus)
    assert summary.caption_lag_pairs == 2 and summary.caption_lag == pytest.approx(0)


def test_what_is_missing_is_listed(corpus):
    summary = summarise(corpus)
    assert summary.failed == [{"path": "c.mp4", "reason": "broken"}] and summary.absent == 1
    assert summary.partial == [{"path": "b.mp4", "decoded": 60.0, "expected": 120.0}]
    assert summary.uncaptioned == ["b.mp4"]
    assert (summary.annotated, summary.segments) == (2, 4)
    assert summary.tasks["7"][2:] == (1, 3, 4)  # found, listed, clips
    page = render_summary(summary)
    for fact in ("Fry an onion", "c.mp4: broken", "60.0 of 120.0 s", "12 words per minute"):
        assert fact in page


def test_a_sheet_has_a_row_per_video_with_frames(corpus, tmp_path):
    draw_sheet(corpus, tmp_path / "sheet.png")
    assert Image.open(tmp_path / "sheet.png").height < 400
    with pytest.raises(InputError, match="cannot be written"):
        draw_sheet(corpus, tmp_path / "nowhere" / "sheet.png")
