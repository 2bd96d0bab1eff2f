"""The sum of the losses, its settings, and what must not matter to it."""

import itertools
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.models import MMCC, ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives import (
    CrossModalConfig,
    CycleConfig,
    DirectionConfig,
    MMCCConfig,
    SampleRng,
    sample_starts,
)
from mmcc.objectives.mmcc import MMCCObjective, mmcc_weights
from mmcc.objectives.spec import TrainingTime
from tests.objectives import by_hand
from tests.objectives.stand_in import (
    D,
    StandIn,
    assert_same_gradients,
    descend,
    gradients,
    random_nodes,
    seeds,
    segment_sizes,
)

WEIGHTS = {"cycle": 0.7, "cross_modal": 1.1, "similarity": 1.9, "direction": 2.3}
NO_DIRECTION = DirectionConfig(leads=0, arrives=0, contrast=0)
PAPER = MMCCConfig(cycle=CycleConfig(starts_per_segment=1, similarity=True), direction=NO_DIRECTION)
PLUS = MMCCConfig(
    cycle=CycleConfig(starts_per_segment=3, similarity=True, similarity_margin=0.1),
    direction=DirectionConfig(contrast=2.0),
)
FIELDS = ("z", "pi", "valid", "times")


def losses(model, nodes, config=PLUS, weights=WEIGHTS, seed=0, samples=None):
    samples = torch.arange(len(nodes[VISION].valid)) if samples is None else samples
    return MMCCObjective(config)(model, nodes, None, weights, SampleRng(seed, samples))


def slow_total(model, nodes, config, weights, seed):
    """Eq. 9 over single cycles; the starts alone are taken from the fast code, which has its own tests."""
    segments = by_hand.segments(nodes)
    cycling, directing = config.cycle, config.direction
    parts = {"cycle": [], "similarity": [], "direction": {}}
    rng = SampleRng(seed, torch.arange(len(segments)))
    for modality in (VISION, TEXT):
        starts = sample_starts(nodes, modality, rng, cycling)
        if directing.parts:
            coins = rng.uniform(f"direction/{modality}", nodes[modality].valid.shape[1]) < cycling.p_unimodal
            found = by_hand.direction_terms(model, segments, modality, lambda b, i, coins=coins: bool(coins[b, i]))
            for part in directing.parts:
                parts["direction"].setdefault(part, []).extend(found[part])
        for b, s in starts.valid.nonzero().tolist():
            alpha, unimodal = int(starts.index[b, s]), bool(starts.unimodal[b, s])
            options = {"path": cycling.path, "constrain": cycling.constrain}
            found = by_hand.walk(model, segments[b], modality, alpha, unimodal, **options)
            if len(found.returns) > 1:
                parts["cycle"].append(by_hand.cycle_term(found, alpha))
                if segments[b][VISION].z and cycling.similarity:
                    parts["similarity"].append(by_hand.similarity_term(found, cycling.similarity_margin))
    return (
        weights["cycle"] * by_hand.mean(parts["cycle"])
        + weights["cross_modal"] * by_hand.mean(by_hand.cross_modal_terms(segments))
        + weights["similarity"] * by_hand.mean(parts["similarity"])
        + weights["direction"]
        * sum(directing.parts[part] * by_hand.mean(each) for part, each in parts["direction"].items())
    )


@pytest.mark.parametrize("config", [PAPER, PLUS])
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=6, deadline=None)
def test_the_total_equals_eq_9(config, sizes, seed):
    model = StandIn(seed=seed)
    nodes = random_nodes(model, sizes, seed)
    fast = losses(model, nodes, config, seed=seed).total
    slow = slow_total(model, nodes, config, WEIGHTS, seed)
    torch.testing.assert_close(fast, slow.reshape(()), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "cycle",
    [
        CycleConfig(similarity=True),
        CycleConfig(path="across"),
        CycleConfig(constrain=False),
        CycleConfig(starts="random"),
        CycleConfig(p_unimodal=1.0),
        CycleConfig(p_unimodal=0.0),
    ],
)
def test_every_ablation_has_the_gradients_of_its_equations(cycle):
    config = replace(PLUS, cycle=replace(cycle, starts_per_segment=2, similarity_margin=-0.2))
    model = StandIn(torch.float64)
    nodes = random_nodes(model, [(5, 3), (3, 4)], 3, padding=1, dtype=torch.float64)
    fast = losses(model, nodes, config).total
    slow = slow_total(model, nodes, config, WEIGHTS, 0)
    assert_same_gradients(fast, slow, model, nodes[VISION].z, nodes[TEXT].z)


def test_the_log_holds_every_term_without_gradient():
    model = StandIn()
    found = losses(model, random_nodes(model, [(5, 4), (4, 4)]))
    terms = found.terms
    assert {"cycle", "cross_modal", "similarity", "direction", "single_candidate_share"} <= set(terms)
    assert not any(term.requires_grad for term in terms.values())
    parts = {name.removeprefix("direction/"): value for name, value in terms.items() if name.startswith("direction/")}
    assert set(parts) == {"leads", "arrives", "contrast"}
    assert terms["direction"].item() == pytest.approx(
        (parts["leads"] + parts["arrives"] + 2 * parts["contrast"]).item()
    )
    weighted = sum(WEIGHTS[name] * terms[name] for name in ("cycle", "cross_modal", "similarity", "direction"))
    assert found.total.item() == pytest.approx(weighted.item(), rel=1e-5)
    off = losses(model, random_nodes(model, [(5, 4)]), PAPER).terms
    assert not any(name.startswith("direction") for name in off)


@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=6, deadline=None)
def test_padding_and_the_order_of_segments_have_no_influence(sizes, seed):
    model = StandIn(seed=seed)
    plain = random_nodes(model, sizes, seed)
    padded = random_nodes(model, sizes, seed, padding=5)
    turned = {m: Nodes(*(getattr(side, name).flip(0) for name in FIELDS)) for m, side in padded.items()}
    one = losses(model, plain)
    samples = torch.arange(len(sizes))
    for nodes, numbers in ((padded, samples), (turned, samples.flip(0))):
        other = losses(model, nodes, samples=numbers)
        torch.testing.assert_close(one.total, other.total, rtol=1e-4, atol=1e-5)
        for a, b in zip(gradients(one.total, model), gradients(other.total, model), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


def test_the_same_sample_gives_the_same_loss_to_the_bit():
    model = StandIn()
    nodes = random_nodes(model, [(5, 4), (4, 4)])
    assert torch.equal(losses(model, nodes).total, losses(model, nodes).total)
    assert not torch.equal(losses(model, nodes).total, losses(model, nodes, seed=1).total)


@pytest.mark.parametrize("sizes", [[(0, 0)], [(1, 1)], [(1, 0), (0, 1)], [(5, 0)], [(0, 5)], [(2, 2)]])
@pytest.mark.parametrize("path", ["within", "across"])
def test_whatever_is_missing_nothing_is_nan(sizes, path):
    model = StandIn()
    nodes = random_nodes(model, sizes)
    for m, side in nodes.items():
        if not side.valid.any():  # as a batch without a single node of the modality has it
            nodes[m] = Nodes(side.z[:, :0], side.pi[:, :0], side.valid[:, :0], side.times[:, :0])
    found = losses(model, nodes, replace(PLUS, cycle=replace(PLUS.cycle, path=path)))
    assert all(torch.isfinite(value) for value in (found.total, *found.terms.values()))
    if found.total.requires_grad:
        assert all(torch.isfinite(g).all() for g in gradients(found.total, model))


def test_only_the_cross_modal_loss_trains_frozen_embeddings():
    model = StandIn()
    nodes = random_nodes(model, [(5, 4), (4, 4)])
    z = [nodes[VISION].z, nodes[TEXT].z]
    only_cross_modal = {**dict.fromkeys(WEIGHTS, 0.0), "cross_modal": WEIGHTS["cross_modal"]}
    frozen = replace(PLUS, fine_tune=False)
    found = losses(model, nodes, frozen)
    assert found.total.item() == pytest.approx(losses(model, nodes).total.item())  # the same loss, by other gradients
    expected = gradients(losses(model, nodes, weights=only_cross_modal).total, *z)
    for got, want in zip(gradients(found.total, *z), expected, strict=True):
        torch.testing.assert_close(got, want)
    layers = (model.layers["state"].weight, model.layers["future"].weight, model.layers["past"].weight)
    assert all(g.abs().max() > 0 for g in gradients(found.total, *layers))


class FeatureBatch:
    """Two segments, of 3 and 2 frames, and of 2 and 1 utterances."""

    frames = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    frame_valid = torch.tensor([[True, True, True], [True, True, False]])
    frame_times = torch.tensor([[0.0, 2, 4], [1, 3, 0]])
    words = torch.tensor([[1, 2, 0], [3, 1, 2], [4, 0, 0]])
    text_valid = torch.tensor([[True, True], [True, False]])
    text_times = torch.tensor([[0.5, 3.5], [2, 0]])
    samples = torch.tensor([0, 1])


def test_the_real_model_learns_from_it():
    torch.manual_seed(0)
    model = MMCC(ModelConfig(dims=D, frame_encoder=FeatureSettings(feature_dims=7)), 5)
    batch = FeatureBatch()
    totals = []
    for _ in range(15):
        found = MMCCObjective(PLUS)(model, model(batch), batch, WEIGHTS, SampleRng(0, batch.samples))
        assert all(gradient.abs().max() > 0 for gradient in gradients(found.total, model))
        descend(model, found.total, 0.01)
        totals.append(found.total.item())
    assert totals[-1] < totals[0] - 0.5


@pytest.mark.parametrize(
    ("config", "setting"),
    [
        (lambda: CycleConfig(path="sideways"), "path"),
        (lambda: CycleConfig(starts="best"), "starts"),
        (lambda: CycleConfig(starts_per_segment=0), "starts_per_segment"),
        (lambda: CycleConfig(p_unimodal=1.5), "p_unimodal"),
        (lambda: CycleConfig(temperature=0), "temperature"),
        (lambda: CrossModalConfig(sigma=0), "sigma"),
        (lambda: CrossModalConfig(window=-1), "window"),
        (lambda: DirectionConfig(gap=-1), "gap"),
    ],
)
def test_impossible_settings_are_named(config, setting):
    with pytest.raises(ValueError, match=f"^{setting} must be"):
        config()


def weights_at(step, steps=100, steps_per_epoch=2.0, **settings):
    return mmcc_weights(MMCCConfig(**settings), TrainingTime(step, steps, steps_per_epoch))


def test_the_ramp_by_hand():
    ramp = {"ramp_epochs": None, "ramp_share": 0.5, "lambda1": 1.0, "lambda1_start": 0.01}
    assert weights_at(0, **ramp)["cycle"] == pytest.approx(0.01)
    assert weights_at(25, **ramp)["cycle"] == pytest.approx(0.1)  # half of the way is the geometric mean
    assert weights_at(50, **ramp)["cycle"] == 1.0 and weights_at(99, **ramp)["cycle"] == 1.0


def test_the_papers_ramp_lasts_thirty_epochs():
    ramp = {"lambda1": 2.0, "lambda1_start": 0.02}
    assert weights_at(59, **ramp)["cycle"] < 2 == weights_at(60, **ramp)["cycle"]
    assert weights_at(30, **ramp)["cycle"] == pytest.approx(0.2)


def test_the_other_weights_depend_on_the_first():
    weights = weights_at(10, ramp_epochs=None, ramp_share=0.5, similarity_ratio=3, direction_ratio=4, lambda2=0.7)
    assert weights["cross_modal"] == 0.7
    assert weights["similarity"] == pytest.approx(3 * weights["cycle"])
    assert weights["direction"] == pytest.approx(4 * weights["cycle"])


def test_the_cycle_alone_can_be_left_out():
    weights = weights_at(10, ramp_epochs=None, ramp_share=0.0, cycle_ratio=0.0, direction_ratio=4.0)
    assert (weights["cycle"], weights["similarity"], weights["direction"]) == (0.0, 3.0, 4.0)


def test_without_a_ramp_or_without_a_cycle():
    assert weights_at(0, ramp_epochs=None, ramp_share=0.0)["cycle"] == 1.0
    assert weights_at(5, 10, ramp_epochs=None, ramp_share=1.0, lambda1=0.0)["cycle"] == 0.0


@given(st.integers(1, 500), st.floats(0.01, 1), st.floats(0.05, 3))
def test_weights_only_grow(steps, share, final):
    settings = {"ramp_epochs": None, "ramp_share": share, "lambda1": final, "lambda1_start": 0.01}
    weights = [weights_at(step, steps, **settings)["cycle"] for step in range(steps)]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(weights))
    assert all(0.01 <= weight <= final * (1 + 1e-12) for weight in weights)
