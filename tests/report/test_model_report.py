"""`mmcc report`: a whole page, of whatever the run has; and what it says of what is missing."""

import json
import shutil
from copy import copy
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.data.splits import videos_for
from mmcc.metrics import Interval
from mmcc.report import examples
from mmcc.report.cycles import verdict
from mmcc.report.examples import ReportContext, cycles, nexts, orders, transitions
from mmcc.report.gallery import Gauge, Lane, Thumbnail, card, gauges, heated, picture, row, timeline
from mmcc.report.measured import headline, measured
from mmcc.tools.anticipate import anticipate, open_clip
from mmcc.tools.cache import Cache
from mmcc.tools.cycles import find_cycles
from mmcc.tools.model import open_model
from mmcc.tools.transitions import find_changes
from mmcc.tools.unshuffle import unshuffle_footage
from tests.corpus.test_corpus import build
from tests.demo.tiny_demo import TINY

whole_demo = pytest.mark.slow  # it takes a quarter of a minute to make, and the slow tests make it anyway
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
    corpus = Corpus.open(made.out / "corpus")
    return ReportContext(
        open_model(made.out / "runs/mmcc+", "last"), corpus, tuple(corpus.split("validation")), Cache.default()
    )


@whole_demo
def test_the_page_has_all_its_parts(page):
    for part in ("What was measured", "What comes next", "Cycles", "Transitions", "Shuffled steps", "Neurons"):
        assert part in page.text
    assert "How it was trained" in page.text and "What it was trained on" in page.text
    assert sum(tag == "svg" for tag, _ in page.seen) >= 2


@whole_demo
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


@whole_demo
def test_the_page_is_small_enough_to_send(made):
    assert (made.out / "report.html").stat().st_size < 10_000_000


@whole_demo
def test_every_picture_says_what_it_shows(page):
    pictures = [attributes for tag, attributes in page.seen if tag == "img"]
    assert pictures and all(attributes.get("alt") is not None for attributes in pictures)


@whole_demo
def test_a_report_of_a_run_with_figures_at_hand(made, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "report.html"
    results = made.out / "evaluations/cross_modal.json"
    run = made.out / "runs/cross_modal"
    assert main(["report", str(run), "-o", str(out), "--results", str(results)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    text = Page(out.read_text()).text
    assert "cannot follow cycles." in text
    assert "to match each frame with the words spoken with it" in text


@whole_demo
def test_its_own_corpus_says_what_it_was_trained_on(made, page):
    count = len(videos_for(Corpus.open(made.out / "corpus"), "train", 0.05))
    assert f"from {count} narrated videos" in page.text and "which it has not seen" in page.text
    assert "What it is shown here" not in page.text


@whole_demo
def test_another_corpus_does_not_say_what_it_was_trained_on(made, tmp_path, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    out, other = tmp_path / "report.html", tmp_path / "other"
    shutil.copytree(made.out / "corpus", other)
    results = ["--results", str(made.out / "evaluations/mmcc+.json")]
    assert main(["report", "kitchen", "-o", str(out), "--corpus", str(other), *results]) == 0
    text = Page(out.read_text()).text
    assert (
        "from narrated videos, of a corpus of 2,400, without any labels" in text and "which it has not seen" not in text
    )
    assert "test videos of other." in text
    assert "A corpus of 2,400 videos (48 pixels, 1 a second), according to the model’s own record." in text
    assert f"What it is shown hereother: {TINY.videos} videos" in text


@whole_demo
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nothing", "-o", "{tmp}/a.html"], 3, "there is no such folder"),
        (["{run}", "-o", "{tmp}/none/a.html"], 2, "there is no folder"),
        (["{run}", "-o", "{tmp}/a.html", "--results", "{tmp}/none.json"], 3, "cannot be read"),
        (["{run}", "-o", "{tmp}/a.html", "--results", "{tmp}/list.json"], 3, "it should be an object"),
        (["{run}", "-o", "{tmp}/a.html", "--corpus", "{tmp}"], 3, "manifest.json"),
        (["kitchen", "-o", "{tmp}/a.html"], 3, "Ingest videos that it has not seen, and give their corpus with --corp"),
        (["kitchen", "-o", "{tmp}/a.html", "--corpus", "{tmp}/y"], 3, "mmcc evaluate RUN --corpus CORPUS --on all"),
        (["{run}/checkpoints/00000004", "-o", "{tmp}/a.html", "--checkpoint", "best", "--corpus", "x"], 3, "x"),
    ],
)
def test_what_cannot_be_reported(made, tmp_path, capsys, arguments, code, told):
    (tmp_path / "list.json").write_text("[]")
    build(tmp_path / "y", "raw", {"a": [0.0]})
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
    values = [Interval(0.25, 0.0, 0.5, 20), None, Interval(-0.5, None, None, 7)]  # the last of too few videos
    page = Page(gauges([Gauge("τ", values, chance=0.0, ceiling=1.0, digits=2)], ["a", "b", "c"], -1.0, 1.0))
    styles = {a["class"]: a["style"] for tag, a in page.seen if tag == "i"}
    assert styles["dot of-0"].startswith("left:62.50%") and styles["mark chance"] == "left:50.00%"
    assert styles["span of-0"].startswith("left:50.00%;right:calc(100% - 75.00%)")
    assert styles["mark ceiling"] == "left:100.00%" and "dot of-1" not in styles
    assert styles["dot of-2"].startswith("left:25.00%") and "span of-2" not in styles
    assert "0.25 [0.00, 0.50]" in page.text and "-0.50 (7 videos)" in page.text


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


@whole_demo
def test_sections_of_a_corpus_without_steps(scene, monkeypatch):
    bare = [replace(each, video=without_labels(each.video)) for each in scene.footage]
    monkeypatch.setitem(scene.__dict__, "footage", bare)
    assert "labelled clips" in orders(scene).blocks[0]
    assert "No labelled clip is followed" in nexts(scene).blocks[0]
    assert "Something changes clearly" in transitions(scene).blocks[0]


def without_labels(video):
    bare = copy(video)
    bare.__dict__["steps"] = []
    return bare


@whole_demo
def test_at_most_sixty_videos_spread_over_all_are_shown(scene, monkeypatch):
    assert [each.video.id for each in scene.footage] == list(scene.ids)  # few enough
    monkeypatch.setattr(examples, "_VIDEOS", 3)
    ids = scene.ids
    fewer = ReportContext(scene.model, scene.corpus, ids, scene.cache)
    assert [each.video.id for each in fewer.footage] == [ids[0], ids[len(ids) // 3], ids[2 * len(ids) // 3]]


@whole_demo
def test_cycles_are_those_that_the_tool_finds(scene):
    found = find_cycles(scene.model, scene.footage, scene.cache)
    page = Page("".join(cycles(scene).blocks))
    counts = [video.count for video in found.videos]
    total, returned, forward = (
        sum(getattr(each, name) for each in counts) for name in ("cycles", "returned", "forward")
    )
    assert f"Of {total:,} cycles in {len(counts)} videos, {returned:,} return" in page.text
    assert f"({sum(each.by_chance for each in counts):,.0f} by chance) and {forward:,} go forward" in page.text
    good, bad = found.examples(4, per_video=1)
    for walk in (*good, *bad[:3]):
        assert f"{walk.footage.name} {verdict(walk)}" in page.text
    assert len({walk.footage.name for walk in good}) == len(good)


@whole_demo
def test_transitions_are_those_that_the_tool_finds(scene):
    found = find_changes(scene.model, scene.footage, scene.cache)
    page = Page("".join(transitions(scene).blocks))
    every = found.best(len(found.videos), per_video=1)
    for change in (*every[:6], *every[6:][-2:]):
        assert change.to_time > change.from_time
        assert f"{change.footage.name}: {change.to_time - change.from_time:.0f} s later" in page.text
    assert f"in {len(found.videos) - len(found.notes)} of {len(found.videos)} videos" in page.text


@whole_demo
def test_orders_are_those_that_the_tool_finds(scene):
    usable = [each for each in scene.footage if 4 <= len(each.video.steps) <= 10]
    found = {each.name: unshuffle_footage(scene.model, each, scene.cache) for each in usable}
    page = Page("".join(orders(scene).blocks))
    taus = [set_.kendall_tau for set_ in found.values()]
    worst, best = min(taus), max(taus)
    assert f"{np.mean(taus):.2f} on average over {len(taus)} videos" in page.text
    assert f", τ = {best:.2f}" in page.text and f", τ = {worst:.2f}" in page.text
    shown = [name for name in found if f"{name}, τ = {found[name].kendall_tau:.2f}" in page.text]
    assert 1 <= len(shown) <= 4 and "The worst" in page.text


@whole_demo
def test_next_steps_are_those_that_the_tool_ranks(scene):
    page = Page("".join(nexts(scene).blocks))
    tasks = scene.corpus.tasks
    texts = sorted({text for task in tasks.values() if task.primary for text in task.steps})
    right = asked = 0
    for footage in scene.footage:
        steps = tasks[footage.video.tasks[0]].steps
        clips = sorted((clip for clip in footage.video.steps if clip.step < len(steps)), key=lambda clip: clip.start)
        if not clips or not set(steps) <= set(texts):
            continue
        clip = open_clip(
            scene.model, f"{scene.corpus.path}:{footage.name}", scene.cache, start=clips[0].start, end=clips[0].end
        )
        first, _ = anticipate(scene.model, clip, texts, scene.cache).steps[0]
        asked += 1
        right += first in steps[clips[0].step :]
    assert asked and f"The first step is right for {right} of {asked} clips." in page.text


@whole_demo
def test_what_the_tools_refuse_is_said(scene, made):
    model = open_model(made.out / "runs/cross_modal", "last")
    context = ReportContext(model, scene.corpus, scene.ids, scene.cache)
    (said,) = cycles(context).blocks
    assert said.startswith('<p class="note">The model ') and "cannot follow cycles" in said


@whole_demo
def test_the_headline_is_a_sentence(made):
    found = json.loads((made.out / "evaluations/mmcc+.json").read_text())
    assert "are among them (chance:" in headline(found)
    assert headline({"tasks": {}}) == ""
