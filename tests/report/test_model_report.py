"""`mmcc report`: a whole page, of whatever the run has; and what it says of what is missing."""

import json
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from mmcc.report.walks import FAR, Edge, Station, Walk, examples, walk

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.data.splits import videos_for
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.runs import find_checkpoint
from mmcc.report.examples import ReportContext, nexts, orders, transitions
from mmcc.report.gallery import Gauge, Lane, Thumbnail, card, gauges, heated, picture, row, timeline
from mmcc.report.measured import headline, measured

NASTY = "<script>alert('x')</script>\" onload=\"y & <b>"


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page(made) -> Page:
    return Page((made.out / "report.html").read_text())


@pytest.fixture(scope="module")
def scene(made) -> ReportContext:
    found = find_checkpoint(made.out / "runs/mmcc+", "last")
    corpus = Corpus.open(made.out / "corpus")
    return ReportContext(open_adapter(found.folder), found.folder, corpus, tuple(corpus.split("validation")))


def test_the_page_has_all_its_parts(page):
    for part in ("What was measured", "What comes next", "Cycles", "Transitions", "Shuffled steps", "Neurons"):
        assert part in page.text
    assert "How it was trained" in page.text and "What it was trained on" in page.text
    assert sum(tag == "svg" for tag, _ in page.seen) >= 2


def test_the_page_needs_nothing_from_outside(page):
    links = [
        value for _, a in page.seen for name, value in a.items() if name in ("href", "src", "srcset", "xlink:href")
    ]
    assert len(links) > 20
    assert all(link.startswith(("#part-", "data:image/jpeg;base64,")) for link in links)
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.seen}
    assert not any(name.startswith("on") for _, attributes in page.seen for name in attributes)
    policy = next(a["content"] for _, a in page.seen if "http-equiv" in a)
    assert policy.startswith("default-src 'none'") and "img-src data:" in policy


def test_the_page_is_small_enough_to_send(made):
    assert (made.out / "report.html").stat().st_size < 10_000_000


def test_every_picture_says_what_it_shows(page):
    pictures = [attributes for tag, attributes in page.seen if tag == "img"]
    assert pictures and all(attributes.get("alt") is not None for attributes in pictures)


def test_a_report_of_a_run_with_figures_at_hand(made, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "report.html"
    results = made.out / "evaluations/cross_modal.json"
    run = made.out / "runs/cross_modal"
    assert main(["report", str(run), "-o", str(out), "--results", str(results)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    text = Page(out.read_text()).text
    assert "cross_modal walks no cycles." in text
    assert "to tell which words go with which frame" in text


def test_its_own_corpus_tells_what_it_learnt_from(made, page):
    learnt = len(videos_for(Corpus.open(made.out / "corpus"), "train", 0.05))
    assert f"from {learnt} narrated videos" in page.text and "which it has not seen" in page.text
    assert "What it is shown here" not in page.text


def test_another_corpus_does_not_tell_what_it_learnt_from(made, tmp_path, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    out, other = tmp_path / "report.html", tmp_path / "other"
    shutil.copytree(made.out / "corpus", other)
    results = ["--results", str(made.out / "evaluations/mmcc+.json")]
    assert main(["report", "kitchen", "-o", str(out), "--corpus", str(other), *results]) == 0
    text = Page(out.read_text()).text
    assert "from narrated videos, of a corpus of 1,200. " in text and "which it has not seen" not in text
    assert "videos that other keeps for tests" in text
    assert "On a corpus of 1,200 videos (48 pixels, 1 a second), by its own record." in text
    assert "What it is shown hereother: 24 videos" in text


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nothing", "-o", "{tmp}/a.html"], 3, "there is no such folder"),
        (["{run}", "-o", "{tmp}/none/a.html"], 2, "there is no folder"),
        (["{run}", "-o", "{tmp}/a.html", "--results", "{tmp}/none.json"], 3, "cannot be read"),
        (["{run}", "-o", "{tmp}/a.html", "--results", "{tmp}/list.json"], 3, "was not written by mmcc evaluate"),
        (["{run}", "-o", "{tmp}/a.html", "--corpus", "{tmp}"], 3, "manifest.json"),
        (["{run}/checkpoints/00000004", "-o", "{tmp}/a.html", "--checkpoint", "best", "--corpus", "x"], 3, "x"),
    ],
)
def test_what_cannot_be_reported(made, tmp_path, capsys, arguments, code, told):
    (tmp_path / "list.json").write_text("[]")
    filled = [word.format(tmp=tmp_path, run=made.out / "runs/mmcc+") for word in arguments]
    assert main(["report", *filled]) == code
    error = capsys.readouterr().err
    assert told in error and "Traceback" not in error
    assert not (tmp_path / "a.html").exists()


def test_captions_reach_the_page_escaped():
    pixels = np.zeros((8, 8, 3), np.uint8)
    made = card(
        NASTY, row([Thumbnail(pixels, NASTY, NASTY), Thumbnail(None, NASTY, NASTY, "bad")], arrows=True), note=NASTY
    )
    figure = {"mean": 1.0, "low": 0.5, "high": 2.0}
    evaluation = {
        "model": NASTY,
        "tasks": {NASTY: {"figures": {NASTY: figure}, "references": {}, "notes": [NASTY]}},
        "skipped": {NASTY: NASTY},
    }
    section = measured([evaluation])
    page = Page(made + "".join(section.blocks))
    assert "script" not in {tag for tag, _ in page.seen} and page.text.count(NASTY) >= 8
    assert not any(name.startswith("on") for _, attributes in page.seen for name in attributes)


def test_gauges_stand_where_their_figures_are():
    made = gauges([Gauge("τ", [(0.25, 0.0, 0.5), None], chance=0.0, ceiling=1.0, digits=2)], ["a", "b"], -1.0, 1.0)
    page = Page(made)
    styles = {a["class"]: a["style"] for tag, a in page.seen if tag == "i"}
    assert styles["dot of-0"].startswith("left:62.50%") and styles["mark chance"] == "left:50.00%"
    assert styles["span of-0"].startswith("left:50.00%;right:calc(100% - 75.00%)")
    assert styles["mark ceiling"] == "left:100.00%" and "dot of-1" not in styles
    assert "0.25 [0.00, 0.50]" in page.text


def test_heat_turns_red_where_the_map_is_hot():
    pixels = np.full((2, 2, 3), 100, np.uint8)
    hot = heated(pixels, np.array([[1.0, 0.0], [0.0, 0.0]], np.float32))
    assert hot[0, 0].tolist() == [185, 78, 45]  # 0.55 of (255, 60, 0) and 0.45 of 100
    assert (hot[1] == 100).all()


def test_large_pictures_are_made_small():
    large = np.random.default_rng(0).integers(0, 255, (720, 1280, 3), np.uint8)
    assert len(picture(large, "")) < 60_000


def test_a_timeline_has_a_cell_for_each_moment():
    lane = Lane("future", np.array([0.0, 5.0, 10.0]), np.array([0.1, 0.7, 0.2]))
    page = Page(timeline("t", [lane], 0.0, 10.0))
    shades = [a["fill-opacity"] for tag, a in page.seen if tag == "rect"]
    assert shades == ["0.143", "1.000", "0.286"]


def a_walk(video: str, start: float, future: float, back: float, confidence: float) -> Walk:
    stations = tuple(Station("vision", int(time), time, "") for time in (start, start, future, future, back))
    return Walk(video, stations, (Edge("", np.zeros(1), np.zeros(1)),) * 2, confidence)


def test_what_comes_of_a_walk():
    assert a_walk("a", 5, 30, 5, 0.5).outcome == "returns"
    assert a_walk("a", 5, 30, 9, 0.5).outcome == "lost"
    assert a_walk("a", 30, 5, 30, 0.5).outcome == "backward"
    assert a_walk("a", 5, 5 + FAR / 2, 5, 0.5).outcome == "stays"


def test_examples_are_the_surest_one_of_each_video():
    walks = [
        a_walk("a", 1, 20, 1, 0.3),
        a_walk("a", 2, 20, 2, 0.9),
        a_walk("b", 3, 20, 3, 0.5),
        a_walk("c", 3, 20, 9, 1),
    ]
    chosen = examples(walks, "returns", 5)
    assert [(each.video, each.confidence) for each in chosen] == [("a", 0.9), ("b", 0.5)]


def test_walks_are_of_the_videos_given(scene):
    found = walk(scene.adapter, scene.checkpoint, scene.corpus, scene.ids)
    assert {each.video for each in found} <= set(scene.ids) and len(found) > 10
    for each in found:
        times = scene.corpus[each.video].times
        for station in each.stations:
            if station.modality == "vision":
                assert times[station.place] == pytest.approx(station.time)
            else:
                assert station.text
        future, back = each.edges
        assert future.weights.sum() == pytest.approx(1, abs=1e-5) and back.weights.max() == pytest.approx(
            each.confidence
        )
        assert back.times[back.weights.argmax()] == pytest.approx(each.stations[4].time)


def test_sections_of_a_corpus_without_steps(scene, monkeypatch):
    bare = [video.__class__(**{**video.__dict__, "steps": [], "tasks": ()}) for video in scene.videos]
    monkeypatch.setitem(scene.__dict__, "videos", bare)
    assert "labelled steps" in orders(scene).blocks[0]
    assert "No clip of a step" in nexts(scene).blocks[0]
    assert "go forward in time" in transitions(scene).blocks[0]


def test_an_order_shows_the_true_place_of_each_clip(scene):
    section = orders(scene)
    page = Page("".join(section.blocks))
    assert "τ = " in page.text and "The worst" in page.text


def test_the_headline_is_a_sentence(made):
    found = json.loads((made.out / "evaluations/mmcc+.json").read_text())
    assert "are among them (chance:" in headline(found)
    assert headline({"tasks": {}}) == ""
