"""Where cycles start."""

import pytest
import torch
from hypothesis import given, settings

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.starts import concreteness, sample_starts, start_candidates
from tests.objectives import by_hand
from tests.objectives.stand_in import StandIn, flat_nodes, random_nodes, seeds, segment_sizes

MANY = torch.arange(4000)


def repeated(nodes: dict[str, Nodes], times: int) -> dict[str, Nodes]:
    """A batch of one segment, many times over: each copy is another sample."""
    return {
        m: Nodes(*(getattr(side, name).repeat(times, *[1] * (getattr(side, name).dim() - 1)) for name in FIELDS))
        for m, side in nodes.items()
    }


FIELDS = ("z", "pi", "valid", "times")


@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=15, deadline=None)
def test_concreteness_equals_eq_7(sizes, seed):
    nodes = random_nodes(StandIn(seed=seed), sizes, seed, padding=2)
    found = concreteness(nodes[VISION], nodes[TEXT])
    for b, segment in enumerate(by_hand.segments(nodes)):
        for i, pi in enumerate(segment[VISION].pi):
            best = max((torch.dot(pi, other).item() for other in segment[TEXT].pi), default=0.0)
            assert found[b, i].item() == pytest.approx(best, abs=1e-5)


def test_padding_does_not_win_the_max():
    """All true similarities are negative here; padding, being zero, would be the best of them."""
    nodes = flat_nodes({VISION: [0.0, 1.0], TEXT: [0.0]}, {VISION: [[1.0, 0.0], [0.6, 0.8]], TEXT: [[-1.0, 0.0]]})
    text = nodes[TEXT]
    padded = Nodes(*(torch.cat([getattr(text, f), torch.zeros_like(getattr(text, f))], dim=1) for f in FIELDS))
    assert concreteness(nodes[VISION], padded)[0].tolist() == pytest.approx([-1, -0.6])


def test_starts_carry_no_gradient():
    nodes = random_nodes(StandIn(), [(5, 4)])
    assert nodes[VISION].pi.requires_grad
    assert not concreteness(nodes[VISION], nodes[TEXT]).requires_grad
    starts = sample_starts(nodes, VISION, SampleRng(0, MANY[:1]), CycleConfig())
    assert not any(t.requires_grad for t in (starts.index, starts.valid, starts.unimodal))


def test_a_start_needs_a_later_node():
    nodes = random_nodes(StandIn(), [(4, 2), (1, 3), (0, 1)], padding=1)
    assert start_candidates(nodes, VISION, "within").int().tolist() == [[1, 1, 1, 0, 0], [0] * 5, [0] * 5]


def test_across_a_start_needs_a_later_node_of_the_other_modality():
    pi = {VISION: [[1.0, 0.0]] * 4, TEXT: [[1.0, 0.0]] * 2}
    nodes = flat_nodes({VISION: [0.0, 2.0, 4.0, 6.0], TEXT: [1.0, 4.0]}, pi)
    assert start_candidates(nodes, VISION, "across").tolist() == [[True, True, False, False]]  # 4 s is not after 4 s
    assert start_candidates(nodes, TEXT, "across").tolist() == [[True, True]]


@pytest.mark.parametrize("path", ["within", "across"])
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=15, deadline=None)
def test_starts_are_candidates_and_differ_where_there_are_enough(path, sizes, seed):
    nodes = random_nodes(StandIn(seed=seed), sizes, seed, padding=seed % 4)
    config = CycleConfig(path=path, starts_per_segment=3)
    starts = sample_starts(nodes, VISION, SampleRng(seed, torch.arange(len(sizes))), config)
    candidates = start_candidates(nodes, VISION, path)
    assert torch.equal(starts.valid, candidates.any(1, keepdim=True).expand(-1, 3))
    assert candidates.gather(1, starts.index)[starts.valid].all()
    for row, count in zip(starts.index.tolist(), candidates.sum(1).tolist(), strict=True):
        if count >= 3:
            assert len(set(row)) == 3


@pytest.mark.parametrize(("choice", "count"), [("concreteness", 1), ("random", 1), ("concreteness", 8)])
def test_starts_follow_the_softmax_of_concreteness_or_chance(choice, count):
    """With 8 starts of 4 candidates they are drawn with replacement: each is a separate draw."""
    nodes = random_nodes(StandIn(), [(5, 3)], seed=4)
    scores = concreteness(nodes[VISION], nodes[TEXT])[0, :4] / 0.1 if choice == "concreteness" else torch.zeros(4)
    starts = sample_starts(
        repeated(nodes, len(MANY)), VISION, SampleRng(0, MANY), CycleConfig(starts=choice, starts_per_segment=count)
    )
    for drawn in starts.index.T:
        shares = torch.bincount(drawn, minlength=5) / len(MANY)
        assert shares.tolist() == pytest.approx([*scores.softmax(0).tolist(), 0], abs=0.035)


def test_without_replacement_the_first_start_is_still_a_draw_and_all_differ():
    nodes = random_nodes(StandIn(), [(5, 3)], seed=4)
    p = (concreteness(nodes[VISION], nodes[TEXT])[0, :4] / 0.1).softmax(0)
    config = CycleConfig(starts_per_segment=2)
    index = sample_starts(repeated(nodes, len(MANY)), VISION, SampleRng(0, MANY), config).index
    assert (index[:, 0] != index[:, 1]).all()
    second = torch.stack([sum(p[j] * p[i] / (1 - p[j]) for j in range(4) if j != i) for i in range(4)])
    for drawn, expected in zip(index.T, (p, second), strict=True):
        assert (torch.bincount(drawn, minlength=4) / len(MANY)).tolist() == pytest.approx(expected.tolist(), abs=0.035)


def test_starts_belong_to_the_sample_not_to_the_batch():
    nodes = random_nodes(StandIn(), [(6, 3), (4, 2), (5, 5)])
    together = sample_starts(nodes, TEXT, SampleRng(7, torch.tensor([40, 41, 42])), CycleConfig(starts_per_segment=2))
    for b in range(3):
        alone = {m: Nodes(*(getattr(side, name)[b : b + 1] for name in FIELDS)) for m, side in nodes.items()}
        starts = sample_starts(alone, TEXT, SampleRng(7, torch.tensor([40 + b])), CycleConfig(starts_per_segment=2))
        assert torch.equal(starts.index[0], together.index[b])
        assert torch.equal(starts.unimodal[0], together.unimodal[b])


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_the_share_of_unimodal_cycles(p):
    nodes = repeated(random_nodes(StandIn(), [(3, 3)]), len(MANY))
    starts = sample_starts(nodes, VISION, SampleRng(0, MANY), CycleConfig(p_unimodal=p, starts_per_segment=4))
    assert starts.unimodal.float().mean().item() == pytest.approx(p, abs=0.02 if 0 < p < 1 else 0)


def test_a_segment_of_one_modality_has_unimodal_cycles_only():
    nodes = random_nodes(StandIn(), [(4, 0), (4, 2)])
    starts = sample_starts(nodes, VISION, SampleRng(0, MANY[:2]), CycleConfig(p_unimodal=0))
    assert starts.unimodal.tolist() == [[True] * 8, [False] * 8]
    assert starts.valid.all()
