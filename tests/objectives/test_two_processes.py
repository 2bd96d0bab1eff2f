"""Two processes with half the batch each learn what one learns from the whole, term by term."""

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from safetensors.torch import load_file, save_file

from mmcc.models.nodes import Nodes
from mmcc.objectives import CycleConfig, MMCCConfig, SampleRng
from mmcc.objectives.distribution import all_reduce_sum, gather_with_gradient, world_size
from mmcc.objectives.mmcc import MMCCObjective
from tests.objectives.stand_in import StandIn, gradients, random_nodes

SIZES = [(5, 0), (6, 4), (3, 1), (4, 5)]  # the first process has one segment, and a mute one
SHARES = {1: [range(4)], 2: [range(1), range(1, 4)]}
NOTHING = dict.fromkeys(("cycle", "cross_modal", "similarity", "direction"), 0.0)
FIELDS = ("z", "pi", "valid", "times")
CONFIGS = {
    "within": MMCCConfig(cycle=CycleConfig(starts_per_segment=3, similarity_margin=-0.5)),
    "across": MMCCConfig(cycle=CycleConfig(starts_per_segment=3, similarity_margin=-0.5, path="across")),
    "frozen": MMCCConfig(cycle=CycleConfig(starts_per_segment=3, similarity_margin=-0.5), fine_tune=False),
}


def learned(share: range) -> dict[str, torch.Tensor]:
    """Gradients and logged terms of each loss, averaged over the processes as training does."""
    model = StandIn()
    whole = random_nodes(model, SIZES)
    cut = slice(share.start, share.stop)
    longest = {m: int(side.valid[cut].sum(1).max()) for m, side in whole.items()}  # each process pads for itself
    nodes = {m: Nodes(*(getattr(side, name)[cut, : longest[m]] for name in FIELDS)) for m, side in whole.items()}
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


def gathered_gradient(rank: int) -> dict[str, torch.Tensor]:
    """Process r has r + 1 rows and weighs every gathered row by its place, times r + 1."""
    rows = torch.full((rank + 1, 2), float(rank), requires_grad=True)
    everything = gather_with_gradient(rows)
    (everything * torch.arange(len(everything))[:, None] * (rank + 1)).sum().backward()
    return {"gathered": everything.detach(), f"gradient/{rank}": rows.grad}


def process(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    save_file(learned(SHARES[2][rank]) | gathered_gradient(rank), f"{folder}/{rank}.safetensors")
    dist.barrier()
    dist.barrier()  # see mmcc.training.processes.join_world
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    multiprocessing.spawn(process, (str(folder),), nprocs=2)
    return [load_file(folder / f"{rank}.safetensors") for rank in range(2)]


def test_gradients_and_logs_of_every_term_equal_those_of_one_process(found):
    alone = learned(SHARES[1][0])
    assert sum(name.split("/")[1] != "log" for name in alone) == len(CONFIGS) * len(NOTHING) * 10
    for term in NOTHING:
        assert any(alone[f"within/{term}/{i}"].abs().max() > 1e-3 for i in range(10)), term
    for process_found in found:
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
