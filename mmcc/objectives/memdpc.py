"""MemDPC (Han et al., 2020) on frame embeddings: tell the next nodes from all others, forward and backward in time.

    L = mean over pasts z_1 … z_t and k = 1 … horizon of  -log  e^{ẑ_{t+k} · z_{t+k} / τ}  /  Σ_j e^{ẑ_{t+k} · z_j / τ}

at unit norms, plus the same with time reversed. ẑ_{t+1} follows from the past, ẑ_{t+2} from the past and ẑ_{t+1}, and
so on (see the model). j runs over every node of the batch: of the same video, of others, and of other processes'.
Every past counts, down to a single node, which is how tasks ask the model.

Shapes: B segments, N nodes, P packed nodes of the batch, Q predictions, D dims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mmcc.models.config import ModelConfig
from mmcc.models.memdpc import Direction, MemDPC
from mmcc.models.nodes import VISION, BatchLike, Nodes
from mmcc.objectives.anchors import take
from mmcc.objectives.config import above
from mmcc.objectives.distribution import SumCount, gather_with_gradient, means_over_processes
from mmcc.objectives.log_sums import log_sum
from mmcc.objectives.losses import Losses, Weights
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import FUTURE, PAST, ObjectiveConfig, ObjectiveSpec, register_objective


@dataclass(frozen=True)
class MemDPCConfig(ObjectiveConfig):
    """How much is remembered, and how far ahead it looks."""

    name: str = "memdpc"
    slots: int = 1024  # of the memory; the authors' own
    horizon: int = 3  # nodes predicted one after another from each past; the authors' own
    temperature: float = 0.1  # of the contrast, as everywhere here; the authors' dot products have none

    def __post_init__(self) -> None:
        above("slots", self.slots, 0)
        above("horizon", self.horizon, 0)
        above("temperature", self.temperature, 0)


class MemDPCObjective:
    """The contrast in both directions of time."""

    def __init__(self, config: MemDPCConfig) -> None:
        self.config = config

    def __call__(
        self, model: MemDPC, nodes: Mapping[str, Nodes], batch: BatchLike, weights: Weights, rng: SampleRng
    ) -> Losses:
        means, logged = means_over_processes(self.sum_counts(model, nodes[VISION]))
        return Losses(torch.stack([*means.values()]).sum(), logged)

    def sum_counts(self, model: MemDPC, frames: Nodes) -> dict[str, SumCount]:
        """Each direction's local sum and count."""
        keys_PD = gather_with_gradient(frames.pi[frames.valid])
        ordered: dict[Direction, Tensor] = {"future": frames.pi, "past": take(frames.pi, _reverse(frames.valid))}
        return {way: self._contrast(model, pi_BND, frames.valid, keys_PD, way) for way, pi_BND in ordered.items()}

    def _contrast(self, model: MemDPC, pi_BND: Tensor, valid_BN: Tensor, keys_PD: Tensor, way: Direction) -> SumCount:
        """Nodes in the order in which they are seen: valid ones first, so that padding never enters a past."""
        c_BND = model.aggregate(pi_BND, way)
        terms = [c_BND[:0, 0, 0]]  # none, but one to take a gradient of where there is no other
        steps = range(1, min(self.config.horizon, pi_BND.shape[1] - 1) + 1)
        for ahead, prediction_BND in zip(steps, _predictions(model, c_BND, way), strict=False):
            counts = valid_BN[:, ahead:]
            prediction_QD, target_QD = prediction_BND[counts], pi_BND[:, ahead:][counts]
            everything_Q = log_sum(prediction_QD @ keys_PD.mT / self.config.temperature)
            terms.append(everything_Q - (prediction_QD * target_QD).sum(dim=-1) / self.config.temperature)
        losses_Q = torch.cat(terms)
        return SumCount(losses_Q.sum(), torch.tensor(len(losses_Q), device=losses_Q.device))


def _predictions(model: MemDPC, c_BND: Tensor, way: Direction) -> Iterator[Tensor]:
    """ẑ after each past, one node on with each, without end; every time the last past has nothing so far ahead."""
    while True:
        c_BND = c_BND[:, :-1]
        prediction_BND = model.predict(c_BND, way)
        yield prediction_BND
        c_BND = model.advance(c_BND, prediction_BND, way)


def _reverse(valid_BN: Tensor) -> Tensor:
    """[B, N]: the places of the valid nodes from the last to the first; padding stays behind them."""
    places = torch.arange(valid_BN.shape[1], device=valid_BN.device)
    backwards = valid_BN.sum(dim=1, keepdim=True) - 1 - places
    return torch.where(backwards >= 0, backwards, places)


def _model(model: ModelConfig, objective: MemDPCConfig, vocabulary_size: int) -> MemDPC:
    return MemDPC(model, objective.slots)


def _temperature(config: MemDPCConfig) -> float:
    return config.temperature


register_objective(
    ObjectiveSpec(
        MemDPCConfig,
        label="MemDPC",
        purpose="to predict the next frames, and the ones before, from learned memories",
        loss=MemDPCObjective,
        model=_model,
        skills=frozenset({FUTURE, PAST}),
        temperature=_temperature,
    )
)
