"""Order, matching and later sentences of stills: by hand, by brute force, and for judges that know nothing or all."""

import json
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.cli.main import main
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.stills import Judgement, gather, measure

SAID = {
    "toast": [(10.0, "cut bread"), (20.0, "toast it"), (30.0, "butter it"), (40.0, "eat")],
    "soup": [(5.0, "chop"), (50.0, "boil"), (90.0, "eat")],
}


def video(name, times):
    nodes = Embedding.of(torch.randn(len(times), 4, generator=torch.Generator().manual_seed(len(name))))
    return EmbeddedVideo(name, (), [], np.array(times, float), nodes, np.empty(0), None)


STILLS = gather([video("toast", [10, 20, 41]), video("soup", [5, 90])], SAID)


def test_each_still_has_the_sentence_of_its_time_and_those_after_it():
    toast, soup = STILLS.sets
    assert toast.sentences == ["cut bread", "toast it", "eat"] and soup.sentences == ["chop", "eat"]
    assert STILLS.texts == ["boil", "butter it", "chop", "cut bread", "eat", "toast it"]
    assert [[STILLS.texts[at] for at in np.flatnonzero(row)] for row in toast.later] == [
        ["butter it", "eat", "toast it"],
        ["butter it", "eat"],
        [],
    ]


@pytest.mark.parametrize("times", [[10], [10, 70], list(range(10, 19)), []])
def test_what_is_no_set_is_left_out_and_counted(times):
    found = gather([video("toast", times)], SAID)
    assert not found.sets and "1 videos" in found.notes[0]


def oracle(set_):
    n = len(set_.sentences)
    return Judgement({"seen": np.triu(np.ones((n, n)), 1)}, np.eye(n), set_.later.astype(float))


def test_one_who_knows_everything_and_one_who_knows_nothing():
    known = measure(STILLS, [oracle(each) for each in STILLS.sets]).figures
    assert known["kendall_tau/seen"].mean == 1 and known["exact/seen"].mean == known["matching"].mean == 100
    assert known["later/recall@1"].mean == 100 and known["later/percentile_mean"].mean > 75
    blank = [
        Judgement({"seen": np.zeros((n, n))}, np.zeros((n, n)), np.zeros((n, 6)))
        for n in (len(each.sentences) for each in STILLS.sets)
    ]
    result = measure(STILLS, blank)
    for name in ("kendall_tau/seen", "exact/seen", "matching", "later/recall@1", "later/percentile_mean"):
        assert result.figures[name].mean == pytest.approx(result.references[f"chance/{name}"], abs=1e-9)


def test_by_hand():
    toast = np.array([[0, 1, 1], [0, 0, -0.5], [0, 0, 0]])  # first, then the last two the wrong way round
    soup = np.array([[0, -1], [0, 0]])
    alike = np.array([[0.9, 0.8, 0], [0.9, 0.1, 0], [0, 0, 1.0]])  # 0.8 + 0.9 beats 0.9 + 0.1
    later = np.array([[0, 3, 0, 5, 2, 1], [0, 1, 0, 0, 0, 2], [0] * 6], float)
    nothing = np.zeros((2, 6))
    result = measure(STILLS, [Judgement({"seen": toast}, alike, later), Judgement({"seen": soup}, None, nothing)])
    assert result.figures["kendall_tau/seen"].totals.tolist() == pytest.approx([1 / 3, -1])
    assert result.figures["exact/seen"].totals.tolist() == [0, 0]
    assert result.figures["matching"].totals.tolist() == [0, 0] and result.figures["matching"].counts.tolist() == [1, 0]
    # toast: "cut bread" itself ranks first of all, and "toast it" first for its own still: neither comes later
    assert result.figures["later/recall@1"].totals[0] == 0
    assert result.figures["later/recall@5"].totals[0] == 200


@given(st.integers(2, 5), st.integers(0, 100))
def test_order_and_matching_are_those_of_brute_force(n, seed):
    times = [10.0 * each for each in range(n)]
    said = {"v": [(time, f"step {time}") for time in times]}
    stills = gather([video("v", times)], said)
    rng = np.random.default_rng(seed)
    margin, alike = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    figures = measure(stills, [Judgement({"seen": margin}, alike)]).figures

    def worth(order):
        return sum(margin[a, b] - margin[b, a] for i, a in enumerate(order) for b in order[i + 1 :])

    best = max(permutations(range(n)), key=worth)
    pairs = [(a, b) for i, a in enumerate(best) for b in best[i + 1 :]]
    tau = sum(1 if a < b else -1 for a, b in pairs) / len(pairs)
    chosen = max(permutations(range(n)), key=lambda each: sum(alike[i, each[i]] for i in range(n)))
    assert figures["kendall_tau/seen"].mean == pytest.approx(tau)
    assert figures["matching"].mean == 100 * (chosen == tuple(range(n)))


@pytest.mark.slow
def test_cook_is_measured_on_videos_in_the_layout_of_youcook2(shared, tmp_path, capsys):
    """The shipped model has seen these very videos, so its figures say nothing; that it is measured does."""
    videos = json.loads((shared / "youcook2" / "videos.json").read_text())
    few = dict([(key, entry) for key, entry in videos.items() if entry.get("frames")][:3])
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "frames").symlink_to(shared / "youcook2" / "frames")
    (tmp_path / "y" / "videos.json").write_text(json.dumps(few))
    assert main(["ingest", str(tmp_path / "y"), "-o", str(tmp_path / "c"), "--size", "260"]) == 0
    command = ["evaluate", "cook", "--corpus", str(tmp_path / "c"), "--tasks", "stills", "--json"]
    assert main(command) == 3 and "is for test" in capsys.readouterr().err
    assert main([*command, "--on", "all"]) == 0
    figures = json.loads(capsys.readouterr().out)["tasks"]["stills"]["figures"]
    assert figures["matching"]["counts"] == [1, 1, 1]
    assert {"kendall_tau/seen", "kendall_tau/read", "kendall_tau/both", "later/recall@5"} <= figures.keys()
