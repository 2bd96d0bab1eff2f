"""Cycles of footage: the trained walk, shown honestly."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from mmcc.cli.main import main
from mmcc.data.segments import NodeTimes
from mmcc.errors import InputError
from mmcc.evaluation import cycle_back
from mmcc.evaluation.cycle_walk import walk_video
from mmcc.models.nodes import TEXT, VISION
from mmcc.tools.cache import Cache
from mmcc.tools.cycles import AWAY, EDGES, OTHER, Count, FoundCycles, find_cycles, to_json
from mmcc.tools.footage import open_footage
from mmcc.tools.model import open_model
from mmcc.training.config import Config
from tests.tools.kitchen_footage import train
from tests.tools.made_up_cycles import made_up


@pytest.fixture
def embedded(kitchen):
    footage = kitchen.footage()[0]
    return kitchen.model(), footage, footage.embedded(kitchen.model(), Cache(kitchen.cache))


def walks_of(model, footage, video, path="within", **cycle):
    config = Config.from_yaml(model.folder / "config.yaml")
    settings = replace(config.objective.cycle, path=path, **cycle)
    return list(walk_video(model.adapter.model, video, footage.video, 1.0, config.data, settings))


def softmax(query, keys, temperature=0.1):
    powers = [torch.exp(torch.dot(query, key) / temperature) for key in keys]
    return torch.stack([power / sum(powers) for power in powers])


def mixture(weights, values):
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


@torch.inference_mode()
def by_hand(model, video, walks, start):
    """Eq. 2 to 5 from one start, within modalities, every edge seeing every node."""
    sides = {VISION: (video.frames, walks.frames), TEXT: (video.utterances, walks.utterances)}
    z = {m: [nodes.z[i] for i in chosen.tolist()] for m, (nodes, chosen) in sides.items()}
    pi = {m: [nodes.pi[i] for i in chosen.tolist()] for m, (nodes, chosen) in sides.items()}
    own, other = walks.modality, OTHER[walks.modality]
    counterpart = softmax(pi[own][start], pi[other])
    state = {own: z[own][start], other: mixture(counterpart, z[other])}
    future = softmax(model.future(model.combine(state[VISION], state[TEXT])), pi[own])

    def way_back(z_future):
        beside = softmax(model.project(z_future, own), pi[other])
        state = {own: z_future, other: mixture(beside, z[other])}
        return beside, softmax(model.past(model.combine(state[VISION], state[TEXT])), pi[own])

    beside, back = way_back(mixture(future, z[own]))
    _, back_hard = way_back(z[own][int(future.argmax())])
    return counterpart, future, beside, back, int(back_hard.argmax())


@pytest.mark.parametrize("modality", [VISION, TEXT])
def test_the_walk_is_the_equations(embedded, modality):
    model, footage, video = embedded
    walks = next(each for each in walks_of(model, footage, video) if each.modality == modality)
    for start in (0, len(walks.can_start) // 2, len(walks.can_start) - 1):
        *edges, hard = by_hand(model.adapter.model, video, walks, start)
        for name, expected in zip(EDGES, edges, strict=True):
            assert getattr(walks, name)[start] == pytest.approx(expected.numpy(), abs=1e-4), name
        assert walks.back_hard[start] == hard
    assert walks.can_start.tolist() == [True] * (len(walks.can_start) - 1) + [False]  # the last has no later one


def test_shares_are_those_of_the_evaluation(kitchen):
    """Over the same corpus; a segment with fewer nodes than starts to draw counts all of its, so all are drawn."""
    model = open_model(str(kitchen.run))
    cache = Cache(kitchen.cache)
    footage = open_footage(model, [kitchen.corpus], cache).footage
    footage = [each for each in footage if len(each.video.utterances) > 1]
    config = Config.from_yaml(model.folder / "config.yaml")
    found = find_cycles(model, footage, cache)
    result = cycle_back.evaluate(
        model.adapter.model,
        model.adapter.words.vocabulary,
        footage[0].corpus,
        [each.video.id for each in footage],
        config.data,
        config.objective.cycle,
        starts=32,
    )
    counts = [video.count for video in found.videos]
    returned = 100 * sum(count.returned for count in counts) / sum(count.cycles for count in counts)
    forward = 100 * sum(count.forward for count in counts) / sum(count.cycles for count in counts)
    assert returned == pytest.approx(result.figures["vision/exact_return/uniform_starts"].mean, abs=4)
    assert forward == pytest.approx(result.figures["vision/goes_forward/uniform_starts"].mean, abs=4)


def test_across_modalities_the_future_is_in_the_other(embedded):
    model, footage, video = embedded
    walks = walks_of(model, footage, video, path="across")[0]
    assert walks.modality == VISION and walks.ahead == TEXT
    assert walks.future.shape == (len(walks.frames), len(walks.utterances))
    assert walks.future_counterpart.shape == walks.back.shape == (len(walks.frames), len(walks.frames))


def test_where_nothing_is_said_cycles_go_by_sight_alone(kitchen):
    footage = kitchen.footage(kitchen.videos[2])
    found = find_cycles(kitchen.model(), footage, Cache(kitchen.cache))
    walk = found.from_time(5.0)[0]
    assert set(walk.stations) == {"start", "future", "back"} and set(walk.edges) == {"future", "back"}
    assert walk.edges["future"].weights.sum() == pytest.approx(1, abs=1e-4)
    assert to_json([walk], found, [], [])["cycles"][0]["counterpart"] is None
    with pytest.raises(InputError, match="two utterances"):
        find_cycles(kitchen.model(), footage, Cache(kitchen.cache), modality=TEXT)


def test_counts_and_examples_by_hand(kitchen):
    #         start:    0  1  2  3  4  5  6  7     frames 4 s apart
    future, back = [3, 2, 1, 3, 0, 7, 7, 7], [0, 1, 2, 3, 0, 5, 0, 7]
    video = made_up(kitchen, future, back, [0.5, 0.9, 0.1, 0.8, 0.2, 0.6, 0.7, 1.0])
    # The last frame cannot start; 0, 1, 2, 3, 5 return; 0, 1, 5, 6 go forward, 1 by 4 s only.
    assert video.count == Count(7, 5, 4, 7 / 8)
    good, bad = video.examples(3)
    assert [walk.stations["start"].node // 4 for walk in good] == [0]  # 5 is within 10 s of 6, more concrete
    assert [walk.stations["start"].node // 4 for walk in bad] == [6]
    assert all(walk.stations["future"].time - walk.stations["start"].time >= AWAY for walk in good)
    assert [walk.returns for walk in (*good, *bad)] == [True, False]


def test_over_several_videos(kitchen):
    #           start:  0  1  2  3  4  5  6  7     0 and 4 return from ahead, and are 16 s apart
    future, back = [3, 1, 2, 3, 7, 7, 7, 7], [0, 0, 0, 0, 4, 0, 0, 7]
    one = made_up(kitchen, future, back, [0.9, 0, 0, 0, 0.7, 0, 0, 0])
    other = made_up(kitchen, future, back, [0.8, 0, 0, 0, 0.6, 0, 0, 0])
    found = FoundCycles([one, other], [])
    assert found.count == Count(14, 4, 8, 14 / 8) == Count(*(2 * part for part in one.count))
    assert [round(walk.concreteness, 1) for walk in found.examples(3)[0]] == [0.9, 0.8, 0.7]
    assert [round(walk.concreteness, 1) for walk in found.examples(3, per_video=1)[0]] == [0.9, 0.8]


def test_a_start_is_the_nearest_node_with_a_future(embedded, kitchen):
    model, footage, _ = embedded
    found = find_cycles(model, [footage], Cache(kitchen.cache))
    for time in (0.0, 21.3, 1e4):
        walk = found.videos[0].from_time(time)
        nodes = np.concatenate(
            [footage.video.times[each["frames"][each["can_start"]]] for each in found.videos[0].segments]
        )
        assert abs(walk.stations["start"].time - time) == np.abs(nodes - time).min()
    walk = found.videos[0].from_time(30.0)
    assert walk.segment[0] <= walk.stations["start"].time < walk.segment[1]
    texts = NodeTimes.of(footage.video).texts
    words = walk.stations["counterpart"]
    assert words.text == texts[words.node] and words.weight == walk.edges["counterpart"].weights.max()


def test_the_verb(kitchen, tmp_path, capsys):
    asked = ["cycles", str(kitchen.run), str(kitchen.videos[0])]
    sheet = tmp_path / "sheet.png"
    assert main([*asked, "--start", "0:21", "--sheet", str(sheet)]) == 0
    assert "cycles return" in capsys.readouterr().out and Image.open(sheet).width > 5 * 144
    assert main([*asked, "--json", "--modality", "text", "--top", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1 and told["videos"][0]["start_modality"] == "text"
    for cycle in told["cycles"]:
        assert cycle["start"]["modality"] == cycle["back"]["modality"] == "text"
        assert cycle["returns"] == (cycle["back"]["time"] == cycle["start"]["time"])
        for edge in cycle["attention"].values():
            assert sum(edge["weights"]) == pytest.approx(1, abs=1e-3) and len(edge["times"]) == len(edge["weights"])


def test_the_second_question_needs_no_torch(kitchen, without_torch):
    find_cycles(kitchen.model(), kitchen.footage(), Cache(kitchen.cache))
    done = without_torch.mmcc("cycles", kitchen.run, kitchen.videos[0], "--start", 9)
    assert done.code == 0, done.err


def test_what_cannot_be_answered_is_refused(kitchen, tmp_path, capsys):
    video = str(kitchen.videos[0])
    assert main(["cycles", str(kitchen.run), video, "--start", "soon"]) == 2
    assert main(["cycles", str(kitchen.run), video, "--start", "59:59"]) == 3
    assert "ends at" in capsys.readouterr().err
    (tmp_path / "text.mp4").write_text("no video")
    assert main(["cycles", str(kitchen.run), str(tmp_path / "text.mp4")]) == 3
    baseline = train(kitchen.corpus, tmp_path / "baseline", **{"objective.name": "cross_modal"})
    capsys.readouterr()
    assert main(["cycles", str(baseline), video]) == 3
    assert "cannot follow cycles" in capsys.readouterr().err
