"""The baselines in two processes with half the batch each: gradients and logs of one process with the whole."""

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from safetensors.torch import load_file, save_file

from mmcc.models.nodes import Nodes
from mmcc.objectives import (
    CrossModalConfig,
    CrossModalObjectiveConfig,
    MemDPCConfig,
    RAConfig,
    SampleRng,
    TAPConfig,
    spec_of,
)
from mmcc.objectives.distribution import all_reduce_sum, world_size
from tests.objectives.stand_in import StandIn, gradients, random_nodes
from tests.objectives.test_memdpc import memdpc

SIZES = [(5, 1), (6, 4), (3, 1), (4, 5)]  # the first process has one segment, whose utterance has no next
SHARES = {1: [range(4)], 2: [range(1), range(1, 4)]}
FIELDS = ("z", "pi", "valid", "times")
OBJECTIVES = {
    "cross_modal": CrossModalObjectiveConfig(),
    "cross_modal, mil_nce": CrossModalObjectiveConfig(cross_modal=CrossModalConfig(form="mil_nce")),
    "representation_anticipation": RAConfig(across=True),
    "time_agnostic": TAPConfig(across=True),
    "memdpc": MemDPCConfig(),
}


def learned(share: range) -> dict[str, torch.Tensor]:
    """Gradients by the model and by z, and logged terms, averaged over the processes as training does."""
    found = {}
    for name, config in OBJECTIVES.items():
        stand_in = StandIn()
        model = memdpc() if name == "memdpc" else stand_in
        whole = random_nodes(stand_in, SIZES)
        cut = slice(share.start, share.stop)
        longest = {m: int(side.valid[cut].sum(1).max()) for m, side in whole.items()}  # each process pads for itself
        nodes = {m: Nodes(*(getattr(side, f)[cut, : longest[m]] for f in FIELDS)) for m, side in whole.items()}
        rng = SampleRng(5, torch.arange(share.start, share.stop))
        losses = spec_of(config).loss(config)(model, nodes, None, {}, rng)
        found |= {f"{name}/log/{term}": value for term, value in losses.terms.items()}
        sources = (model, *(side.z for side in whole.values()))
        for i, gradient in enumerate(gradients(losses.total, *sources)):
            found[f"{name}/{i}"] = all_reduce_sum(gradient) / world_size()
    return found


def process(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    save_file(learned(SHARES[2][rank]), f"{folder}/{rank}.safetensors")
    dist.barrier()
    dist.barrier()  # see mmcc.training.processes.join_world
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    multiprocessing.spawn(process, (str(folder),), nprocs=2)
    return [load_file(folder / f"{rank}.safetensors") for rank in range(2)]


def test_gradients_and_logs_equal_those_of_one_process(found):
    alone = learned(SHARES[1][0])
    for name in OBJECTIVES:
        own = [value for key, value in alone.items() if key.startswith(f"{name}/") and "/log/" not in key]
        assert max(value.abs().max() for value in own) > 1e-3, name
    for process_found in found:
        assert process_found.keys() == alone.keys()
        for name, expected in alone.items():
            torch.testing.assert_close(process_found[name], expected, rtol=1e-5, atol=1e-5, msg=lambda m, n=name: n + m)
