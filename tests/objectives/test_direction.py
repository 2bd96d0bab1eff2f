"""The direction loss of MMCC+."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.config import CycleConfig, DirectionConfig
from mmcc.objectives.direction import direction_loss
from mmcc.objectives.log_sums import batch_keys
from mmcc.objectives.rng import SampleRng
from tests.objectives import by_hand
from tests.objectives.stand_in import (
    NoIdea,
    StandIn,
    assert_same_gradients,
    descend,
    flat_nodes,
    random_nodes,
    seeds,
    segment_sizes,
)

PARTS = {"leads", "arrives", "contrast"}
UNIMODAL = CycleConfig(p_unimodal=1.0)
PLUS = DirectionConfig()
modalities = st.sampled_from((VISION, TEXT))


def fast(model, nodes, modality, config=PLUS, cycling=UNIMODAL, seed=0):
    rng = SampleRng(seed, torch.arange(len(nodes[VISION].valid)))
    return direction_loss(model, nodes, batch_keys(nodes), modality, rng, cycling, config)


def slow(model, nodes, modality, config=PLUS, cycling=UNIMODAL, seed=0):
    rng = SampleRng(seed, torch.arange(len(nodes[VISION].valid)))
    unimodal = rng.uniform(f"direction/{modality}", nodes[modality].valid.shape[1]) < cycling.p_unimodal
    remembers = rng.uniform(f"memory/{modality}", nodes[modality].valid.shape[1]) < config.p_memory
    return by_hand.direction_terms(
        model,
        by_hand.segments(nodes),
        modality,
        lambda b, i: bool(unimodal[b, i]),
        lambda b, i: model.remembers and bool(remembers[b, i]),
        gap=config.gap,
        temperature=config.temperature,
    )


def mean(sum_count):
    return sum_count.total / sum_count.count.clamp(min=1)


@given(
    sizes=segment_sizes,
    seed=seeds,
    modality=modalities,
    p_unimodal=st.sampled_from((0.0, 0.5, 1.0)),
    p_memory=st.sampled_from((None, 0.0, 0.5, 1.0)),  # None: a model without a memory
)
@settings(max_examples=40, deadline=None)
def test_equals_the_equation(sizes, seed, modality, p_unimodal, p_memory):
    model = StandIn(seed=seed, remembers=p_memory is not None)
    nodes = random_nodes(model, sizes, seed, padding=seed % 3)
    config, cycling = DirectionConfig(gap=1.0, p_memory=p_memory or 0.0), CycleConfig(p_unimodal=p_unimodal)
    sum_counts = fast(model, nodes, modality, config, cycling, seed)
    terms = slow(model, nodes, modality, config, cycling, seed)
    assert set(sum_counts) == PARTS
    for part, sum_count in sum_counts.items():
        assert sum_count.count == len(terms[part])
        torch.testing.assert_close(mean(sum_count), by_hand.mean(terms[part]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("modality", [VISION, TEXT])
@pytest.mark.parametrize("p_unimodal", [0.0, 1.0])
@pytest.mark.parametrize("remembers", [False, True])
def test_gradients_equal_those_of_the_equation(modality, p_unimodal, remembers):
    model = StandIn(torch.float64, remembers=remembers)
    nodes = random_nodes(model, [(5, 4), (3, 3), (4, 2)], 1, padding=2, dtype=torch.float64)
    config, cycling = DirectionConfig(gap=1.0), CycleConfig(p_unimodal=p_unimodal)
    sum_counts = fast(model, nodes, modality, config, cycling)
    for part, terms in slow(model, nodes, modality, config, cycling).items():
        assert len(terms) > 2
        assert_same_gradients(mean(sum_counts[part]), by_hand.mean(terms), model, nodes[VISION].z, nodes[TEXT].z)


def test_uninformed_every_part_has_the_value_of_its_shares():
    """Three frames at 0, 4 and 8 s and an utterance at 4 s; a second segment adds two frames and no utterance.

    Frames to frames, per direction: from the first segment's frames 2, 1 and 0 of the 3 lie ahead, from the second's 1
    and 0 of the 2; there are 5 frames to arrive from. The utterance lies ahead of one frame, and is alone in the batch.
    """
    nodes = random_nodes(NoIdea(), [(3, 1), (2, 0)])
    nodes[VISION].times[0, :3] = torch.tensor([0.0, 4, 8])
    nodes[TEXT].times[0, 0] = 4.0
    sum_counts = fast(NoIdea(), nodes, VISION)
    leads = [2 / 3, 1 / 3, 1 / 2, 1]
    arrives = [1 / 5, 2 / 5, 1 / 5, 1 / 5]  # at two frames of the first segment, one of the second, and the utterance
    both_directions = 2
    for part, shares in (("leads", leads), ("arrives", arrives)):
        assert sum_counts[part].count == both_directions * len(shares)
        expected = -both_directions * sum(map(math.log, shares))
        assert sum_counts[part].total.item() == pytest.approx(expected, abs=1e-5)
    # The middle frame and the utterance have a frame on each side; what cannot be told apart costs log 2.
    assert sum_counts["contrast"].count == both_directions * 2
    assert mean(sum_counts["contrast"]).item() == pytest.approx(math.log(2), abs=1e-6)


class Flat(NoIdea):
    """For nodes of any number of dims."""

    def combine(self, z_vision, z_text):
        return z_vision


def test_nodes_of_the_other_modality_must_be_more_than_the_gap_away():
    nodes = flat_nodes({VISION: [0.0, 4.0], TEXT: [2.0, 6.5]}, {VISION: [[1.0, 0.0]] * 2, TEXT: [[1.0, 0.0]] * 2})

    # Ahead: frame 0 → frame 1, and both frames → the utterance at 6.5 s; behind: frame 1 → frame 0.
    sum_counts = fast(Flat(), nodes, VISION, DirectionConfig(gap=2.0))
    assert sum_counts["leads"].count == 1 + 2 + 1
    assert sum_counts["arrives"].count == 1 + 1 + 1
    assert sum_counts["contrast"].count == 0
    assert sum_counts["contrast"].total == 0
    sum_counts = fast(Flat(), nodes, VISION, DirectionConfig(gap=1.0))
    assert sum_counts["leads"].count == 1 + 2 + 1 + 1  # the utterance at 2 s now lies behind frame 1


class Table(Flat):
    """Predicts what a table says of each place of the segment."""

    def __init__(self, rows):
        super().__init__()
        self.rows = torch.tensor(rows)

    def future(self, z):
        return self.rows.expand(len(z), -1, -1)

    def past(self, z):
        return torch.zeros_like(z)


def contrast(rows, pi):
    """Of three frames and three utterances at the same times, from frames by `rows`."""
    times = [0.0, 4.0, 8.0]
    nodes = flat_nodes({VISION: times, TEXT: times}, {VISION: [[0.0] * len(pi[0])] * 3, TEXT: pi})
    return mean(fast(Table(rows), nodes, VISION, DirectionConfig())["contrast"]).item()


def test_knowing_the_task_or_what_looks_late_does_not_lower_the_contrast():
    """A constant query, however well it fits, and a query that grows for all nodes alike, cost as much as none."""
    late = [[0.0, 0.2, 1.0], [0.0, 0.6, 0.8], [0.0, 1.0, 0.3]]
    nothing = contrast([[0.0, 0.0, 0.0]] * 3, late)
    assert nothing == pytest.approx(math.log(2), abs=1e-6)
    assert contrast([[0.3, 0.2, 0.9]] * 3, late) == pytest.approx(nothing, abs=1e-6)
    same = [[1.0, 0.0, 0.0]] * 3
    assert contrast([[0.9, 0.0, 0.0], [0.5, 0.0, 0.0], [0.1, 0.0, 0.0]], same) == pytest.approx(nothing, abs=1e-6)


def test_expecting_a_node_before_it_and_not_after_lowers_the_contrast():
    """By hand: from frame 0 and frame 2 the middle utterance has probability P0 and P2, so σ costs log(1 + P2 / P0).

    The contrast also has three equal terms of log 2, of g_back and of frames to frames.
    """
    pi = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    expects, does_not = [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
    P0, P2 = math.exp(10) / (math.exp(10) + 2), 1 / (math.exp(10) + 2)
    right, wrong = contrast([expects, expects, does_not], pi), contrast([does_not, expects, expects], pi)
    assert right == pytest.approx((math.log(1 + P2 / P0) + 3 * math.log(2)) / 4, abs=1e-5)
    assert wrong == pytest.approx((math.log(1 + P0 / P2) + 3 * math.log(2)) / 4, abs=1e-5)


@given(sizes=segment_sizes, seed=seeds, modality=modalities)
@settings(max_examples=10, deadline=None)
def test_time_reversed_the_predictors_change_places(sizes, seed, modality):
    """With all anchors, past and future are the same loss in a film played backwards."""
    model = StandIn(torch.float64, seed=seed)

    class Swapped(StandIn):
        future, past = StandIn.past, StandIn.future

    swapped = Swapped(torch.float64, seed=seed)
    nodes = random_nodes(model, sizes, seed, dtype=torch.float64)
    backwards = {
        m: Nodes(*(torch.stack([_reversed(row, v) for row, v in zip(t, side.valid, strict=True)]) for t in tensors))
        for m, side in nodes.items()
        for tensors in [(side.z, side.pi, side.valid, -side.times)]
    }
    forward, back = fast(model, nodes, modality), fast(swapped, backwards, modality)
    for part in PARTS:
        assert forward[part].count == back[part].count
        torch.testing.assert_close(forward[part].total, back[part].total)


def _reversed(row, valid):
    """The valid places, which come first, in reverse order."""
    return torch.cat([row[valid].flip(0), row[~valid]])


def test_each_part_can_be_switched_off():
    model = StandIn()
    nodes = random_nodes(model, [(5, 4)])
    for part in sorted(PARTS):
        found = fast(model, nodes, VISION, DirectionConfig(**{part: 0.0}))
        assert set(found) == PARTS - {part}


def test_its_gradient_turns_the_forward_edge_forward():
    model = StandIn()
    nodes = random_nodes(model, [(6, 4)] * 3, seed=5)
    nodes = {m: type(s)(s.z.detach(), s.pi.detach(), s.valid, s.times) for m, s in nodes.items()}

    def share_ahead():
        edge = (model.future(nodes[VISION].z) @ nodes[VISION].pi.mT / 0.1).softmax(dim=-1)
        return edge.triu(1)[:, :-1].sum().item() / (3 * 5)

    before = share_ahead()
    for _ in range(100):
        descend(model, fast(model, nodes, VISION)["leads"].total, 0.03)
    assert share_ahead() > before + 0.2
