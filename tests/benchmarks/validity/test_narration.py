"""Statistics of narration: by hand, on small kitchens, and on what is really said."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.validity import narration
from benchmarks.validity.narration import (
    STATISTICS,
    Narrated,
    Sentence,
    Step,
    content_words,
    different_words,
    main,
    match,
    measure,
    of_kitchen,
    of_youcook2,
    over_videos,
    side,
    speech_rate,
)

SOUP = [Step(10, 20, "chop the onions"), Step(30, 40, "boil the water"), Step(60, 70, "chop the onions")]


def said(start: float, text: str, step: str = "") -> Sentence:
    return Sentence(start, tuple(text.split()), step)


def test_a_sentence_is_matched_with_the_step_that_it_names() -> None:
    sentences = [
        said(8, "now chop that onion", "chop onion"),
        said(12, "the knife was my mother's"),
        said(55, "and chop another", "chopping onions"),
        said(90, "now the water", "boiling a pot of water"),
        said(95, "and serve", "serve soup"),
    ]
    found = match(Narrated(sentences, SOUP))
    assert [(sentence.start, step.start) for sentence, step in found] == [(8, 10), (55, 60), (90, 30)]
    assert [side(sentence.start, step) for sentence, step in found] == [-2, -5, 50]
    assert side(15, SOUP[0]) == side(10, SOUP[0]) == side(20, SOUP[0]) == 0
    assert match(Narrated(sentences, [])) == []
    assert content_words("Chopping the onions, and chop it") == {"chop", "onion"}
    assert content_words("baking") == content_words("bake") == content_words("baked")


@pytest.fixture
def youcook2(tmp_path: Path) -> Path:
    """Two videos as the real files have them; the second has no times of steps."""
    spoken = [
        (0.0, "hello , we 're here.", ""),
        (12.0, "chop the onion", "chop onions"),
        (30.0, "do n't", "boil water"),
    ]
    sentences = [{"start": at, "text": text, "useful": bool(step), "key_step": step} for at, text, step in spoken]
    segments = [dict(zip(("start", "end", "sentence"), each, strict=True)) for each in SOUP[:2]]
    segments.append({"start": None, "end": None, "sentence": "serve"})
    (tmp_path / "narration.json").write_text(
        json.dumps({name: {"title": "soup", "sentences": sentences} for name in "ab"})
    )
    (tmp_path / "videos.json").write_text(json.dumps({"a": {"segments": segments}}))
    return tmp_path


def test_the_figures_by_hand(youcook2: Path) -> None:
    one, other = of_youcook2(youcook2)
    assert one.steps == SOUP[:2] and other.steps == []
    assert [each.words for each in one.sentences] == [("hello", "we're", "here"), ("chop", "the", "onion"), ("don't",)]
    found = {name: each.value for name, each in measure([one, other], frozenset(["chop", "the", "here"])).items()}
    assert found.keys() == STATISTICS.keys()
    assert found["about_a_step"] == pytest.approx(200 / 3) and found["matched"] == 100
    assert (found["lag_early"], found["lag_median"], found["lag_late"]) == (0.5, 1, 1.5)  # 2 s and 0 s after the start
    assert (found["before"], found["during"], found["after"]) == (0, 100, 0)
    assert (found["length_median"], found["length_mean"]) == (3, pytest.approx(7 / 3))
    assert found["rate"] == pytest.approx(6 / 0.5)
    assert found["unknown"] == pytest.approx(400 / 7) and found["unknown_in_steps"] == 50
    assert np.isnan(found["types_1000"])  # they have fewer words


def test_a_single_sentence_has_no_rate() -> None:
    assert speech_rate(Narrated([said(3, "hello")], [])) == speech_rate(Narrated([], [])) == []


@given(st.lists(st.lists(st.floats(-9, 9), max_size=4), max_size=5))
def test_an_interval_is_around_what_all_videos_give(values: list[list[float]]) -> None:
    found = over_videos(values, lambda each: float(np.median(each)))
    pooled = [each for video in values for each in video]
    if not pooled:
        assert np.isnan(found.value)
    else:
        assert found.value == np.median(pooled)
        assert min(pooled) <= found.low <= found.high <= max(pooled)


def test_different_words_are_counted_at_equal_length() -> None:
    videos = [["a", "b", "a"], ["c", "c", "c"]]
    assert different_words(videos, 6) == (3, 3, 3)
    assert different_words(videos, 3) == (pytest.approx(1.5, abs=0.2), 1, 2)
    assert np.isnan(different_words(videos, 7).value)


def test_the_kitchen_names_a_step_in_every_second_sentence() -> None:
    videos, known = of_kitchen(videos=30, seed=0)
    found = {name: each.value for name, each in measure(videos, known).items()}
    assert len(videos) == 30 and 40 < found["about_a_step"] < 55 and found["matched"] > 90
    assert found["before"] + found["during"] + found["after"] == pytest.approx(100)
    assert found["unknown"] < 20 and "the" in known


def test_the_real_narration_is_mostly_about_something_else(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = shared / "youcook2"
    if not (data / "narration.json").is_file():
        pytest.skip("YouCook2's narration is not in ../shared/data")
    monkeypatch.setattr(narration, "RESAMPLES", 20)
    monkeypatch.setattr(narration, "DRAWS", 5)
    figures = main(["--data", str(data), "--videos", "30", "--json"])
    assert len(figures) == 3 and all(figure.ok for figure in figures)
    printed = json.loads(capsys.readouterr().out)
    real = {name: each["value"] for name, each in printed["YouCook2"].items()}
    assert real["about_a_step"] == pytest.approx(22.9, abs=0.05)
    assert real["during"] > real["before"] > real["after"] and 10 < real["length_median"] < 15


def test_data_that_is_not_there_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path)])
    assert f"--data {tmp_path}: has no narration.json and no videos.json" in capsys.readouterr().err
    monkeypatch.setattr(narration, "DATA", tmp_path)
    assert main([]) == []
    assert len(capsys.readouterr().out.splitlines()) == 1
