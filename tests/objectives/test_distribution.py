"""Two processes with half the batch each train like one with the whole: every objective, term by term."""

from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file

from mmcc.models.nodes import Nodes
from mmcc.objectives import (
    CrossModalConfig,
    CrossModalObjectiveConfig,
    CycleConfig,
    MemDPCConfig,
    MMCCConfig,
    RAConfig,
    SampleRng,
    TAPConfig,
    spec_of,
)
from mmcc.objectives.distribution import all_reduce_sum, gather_with_gradient, world_size
from mmcc.objectives.mmcc import MMCCObjective
from tests.objectives.stand_in import StandIn, gradients, random_nodes
from tests.objectives.test_memdpc import memdpc

SIZES = [(5, 0), (6, 4), (3, 1), (4, 5)]  # the first process has one segment, and a mute one
WITH_WORDS = [(5, 1), *SIZES[1:]]  # the first process has one segment, whose utterance has no next
SHARES = {1: [range(4)], 2: [range(1), range(1, 4)]}
NOTHING = dict.fromkeys(("cycle", "cross_modal", "similarity", "direction"), 0.0)
FIELDS = ("z", "pi", "valid", "times")
WALK = CycleConfig(starts_per_segment=3, similarity=True, similarity_margin=-0.5)
CONFIGS = {
    "within": MMCCConfig(cycle=WALK),
    "across": MMCCConfig(cycle=replace(WALK, path="across")),
    "frozen": MMCCConfig(cycle=WALK, fine_tune=False),
}
BASELINES = {
    "cross_modal": CrossModalObjectiveConfig(),
    "cross_modal, mil_nce": CrossModalObjectiveConfig(cross_modal=CrossModalConfig(form="mil_nce")),
    "representation_anticipation": RAConfig(across=True),
    "time_agnostic": TAPConfig(across=True),
    "memdpc": MemDPCConfig(),
}


def share_of(whole: dict[str, Nodes], share: range) -> dict[str, Nodes]:
    """A process's segments, padded for themselves."""
    cut = slice(share.start, share.stop)
    longest = {m: int(side.valid[cut].sum(1).max()) for m, side in whole.items()}
    return {m: Nodes(*(getattr(side, name)[cut, : longest[m]] for name in FIELDS)) for m, side in whole.items()}


def learned(share: range) -> dict[str, torch.Tensor]:
    """Gradients and logged terms of each loss of MMCC, averaged over the processes as training does."""
    model = StandIn()
    nodes = share_of(random_nodes(model, SIZES), share)
    found = {}
    for config_name, config in CONFIGS.items():
        for term in NOTHING:
            weights = NOTHING | {term: 1.0}
            rng = SampleRng(5, torch.arange(share.start, share.stop))
            losses = MMCCObjective(config)(model, nodes, None, weights, rng)
            found |= {f"{config_name}/log/{name}": value for name, value in losses.terms.items()}
            for i, gradient in enumerate(gradients(losses.total, model)):
                found[f"{config_name}/{term}/{i}"] = all_reduce_sum(gradient) / world_size()
    return found


def learned_by_baselines(share: range) -> dict[str, torch.Tensor]:
    """Gradients by the model and by z, and logged terms, averaged over the processes as training does."""
    found = {}
    for name, config in BASELINES.items():
        stand_in = StandIn()
        model = memdpc() if name == "memdpc" else stand_in
        whole = random_nodes(stand_in, WITH_WORDS)
        rng = SampleRng(5, torch.arange(share.start, share.stop))
        losses = spec_of(config).loss(config)(model, share_of(whole, share), None, {}, rng)
        found |= {f"{name}/log/{term}": value for term, value in losses.terms.items()}
        sources = (model, *(side.z for side in whole.values()))
        for i, gradient in enumerate(gradients(losses.total, *sources)):
            found[f"{name}/{i}"] = all_reduce_sum(gradient) / world_size()
    return found


def gathered_gradient(rank: int) -> dict[str, torch.Tensor]:
    """Process r has r + 1 rows and weighs every gathered row by its place, times r + 1."""
    rows = torch.full((rank + 1, 2), float(rank), requires_grad=True)
    everything = gather_with_gradient(rows)
    (everything * torch.arange(len(everything))[:, None] * (rank + 1)).sum().backward()
    return {"gathered": everything.detach(), f"gradient/{rank}": rows.grad}


def process(rank: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    share = SHARES[2][rank]
    for name, part in (("mmcc", learned(share) | gathered_gradient(rank)), ("baselines", learned_by_baselines(share))):
        save_file(part, f"{folder}/{name}-{rank}.safetensors")
    dist.barrier()
    dist.barrier()  # see mmcc.training.processes.join_world
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def together(two_processes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    two_processes.run(process, str(folder))
    return folder


@pytest.fixture(scope="module")
def found(together):
    return [load_file(together / f"mmcc-{rank}.safetensors") for rank in range(2)]


def test_gradients_and_logs_of_every_term_equal_those_of_one_process(found):
    alone = learned(SHARES[1][0])
    assert sum(name.split("/")[1] != "log" for name in alone) == len(CONFIGS) * len(NOTHING) * 10
    for term in NOTHING:
        assert any(alone[f"within/{term}/{i}"].abs().max() > 1e-3 for i in range(10)), term
    for process_found in found:
        for name, expected in alone.items():
            torch.testing.assert_close(process_found[name], expected, rtol=1e-5, atol=1e-5, msg=lambda m, n=name: n + m)


def test_gradients_and_logs_of_every_baseline_equal_those_of_one_process(together):
    alone = learned_by_baselines(SHARES[1][0])
    for name in BASELINES:
        own = [value for key, value in alone.items() if key.startswith(f"{name}/") and "/log/" not in key]
        assert max(value.abs().max() for value in own) > 1e-3, name
    for rank in range(2):
        process_found = load_file(together / f"baselines-{rank}.safetensors")
        assert process_found.keys() == alone.keys()
        for name, expected in alone.items():
            torch.testing.assert_close(process_found[name], expected, rtol=1e-5, atol=1e-5, msg=lambda m, n=name: n + m)


def test_rows_are_gathered_in_order_and_gradients_return_to_their_process(found):
    for rank in range(2):
        assert found[rank]["gathered"].tolist() == [[0, 0], [1, 1], [1, 1]]
    assert found[0]["gradient/0"].tolist() == [[0, 0]]
    assert found[1]["gradient/1"].tolist() == [[3, 3], [6, 6]]  # places 1 and 2, weighed 1 + 2 by the two processes


def test_a_single_process_is_left_alone():
    rows = torch.randn(3, 2, requires_grad=True)
    assert gather_with_gradient(rows) is rows
    assert world_size() == 1
    assert torch.equal(all_reduce_sum(rows), rows.detach())
