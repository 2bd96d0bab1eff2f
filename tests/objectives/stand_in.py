"""A model of a few linear layers and ragged batches of random nodes: all that tests of the losses need."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, nn

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.starts import Starts, sample_starts

D = 6


class StandIn(nn.Module):
    """Has what the losses need from a model."""

    def __init__(self, dtype: torch.dtype = torch.float32, seed: int = 0, *, remembers: bool = False):
        super().__init__()
        self.remembers = remembers
        generator = torch.Generator().manual_seed(seed)
        self.layers = nn.ModuleDict(
            {VISION: nn.Linear(D, D), TEXT: nn.Linear(D, D), "state": nn.Linear(2 * D, D)}
            | {"future": nn.Linear(D, D), "past": nn.Linear(D, D)}
            | ({"memory": nn.Linear(2 * D, D)} if remembers else {})
        ).to(dtype)
        for parameter in self.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(dtype)

    def project(self, z, modality):
        return F.normalize(self.layers[modality](z), dim=-1)

    def combine(self, z_vision, z_text):
        return self.layers["state"](torch.cat([z_vision, z_text], dim=-1))

    def remember(self, z, before):
        return self.layers["memory"](torch.cat([z, before], dim=-1))

    def future(self, z):
        return F.normalize(self.layers["future"](z), dim=-1)

    def past(self, z):
        return F.normalize(self.layers["past"](z), dim=-1)

    def future_and_past(self, z):
        return self.future(z), self.past(z)


class NoIdea(StandIn):
    """Predicts nothing in particular, so that all candidates tie."""

    def future(self, z):
        return z * 0

    past = future


def random_side(model, modality: str, sizes: list[int], seed: int, padding: int = 0, dtype=torch.float32) -> Nodes:
    """Nodes of one modality, `sizes` valid ones per segment. A node's z and time depend on its place only, never on
    the padding; the padding's time lies among the others, so that forgetting the mask is noticed."""
    length = max([*sizes, 1]) + padding  # an empty side has one place of padding
    generator = torch.Generator().manual_seed(seed * 2 + (modality == TEXT))
    z_all = torch.randn(len(sizes), 64, D, generator=generator, dtype=torch.float64)
    gaps = torch.randint(8, 256, (len(sizes), 64), generator=generator)
    times_all = gaps.cumsum(dim=1) / 64  # exact in float32, so that fast and slow code break ties the same way
    valid = torch.arange(length) < torch.tensor(sizes)[:, None]
    z = (z_all[:, :length] * valid[..., None]).to(dtype).requires_grad_()
    times = torch.where(valid, times_all[:, :length], 5.0).float()
    pi = torch.where(valid[..., None], model.project(z, modality), 0)
    return Nodes(z, pi, valid, times)


def random_nodes(model, sizes: list[tuple[int, int]], seed: int = 0, padding: int = 0, dtype=torch.float32):
    """{VISION, TEXT}: `sizes` holds the number of frames and utterances of each segment."""
    return {
        VISION: random_side(model, VISION, [frames for frames, _ in sizes], seed, padding, dtype),
        TEXT: random_side(model, TEXT, [utterances for _, utterances in sizes], seed, padding, dtype),
    }


def starts_at(modality: str, index, unimodal=False, valid=True) -> Starts:
    index = torch.as_tensor(index)
    everywhere = torch.ones_like(index, dtype=torch.bool)
    return Starts(modality, index, everywhere & torch.as_tensor(valid), everywhere & torch.as_tensor(unimodal))


def some_starts(nodes, modality, path, seed=0, count=3):
    config = CycleConfig(path=path, starts_per_segment=count)
    return sample_starts(nodes, modality, SampleRng(seed, torch.arange(len(nodes[VISION].valid))), config)


def flat_nodes(times: dict[str, list[float]], pi: dict[str, list[list[float]]]) -> dict[str, Nodes]:
    """One segment without padding, with z equal to the given π."""
    sides = {}
    for modality, vectors in pi.items():
        tensor = torch.tensor([vectors])
        sides[modality] = Nodes(
            tensor, tensor, torch.ones(tensor.shape[:2], dtype=torch.bool), torch.tensor([times[modality]])
        )
    return sides


def reordered(nodes: Nodes, order: Tensor) -> Nodes:
    return replace(nodes, **{name: getattr(nodes, name)[:, order] for name in ("z", "pi", "valid", "times")})


def gradients(loss: Tensor, *sources) -> list[Tensor]:
    """Of the loss by every parameter of a model, or by a tensor."""
    tensors = [t for source in sources for t in (source.parameters() if isinstance(source, nn.Module) else [source])]
    found = torch.autograd.grad(loss, tensors, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(t) if g is None else g for t, g in zip(tensors, found, strict=True)]


def assert_same_gradients(fast: Tensor, slow: Tensor, *sources) -> None:
    for one, other in zip(gradients(fast, *sources), gradients(slow, *sources), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def descend(model: nn.Module, loss: Tensor, step: float) -> None:
    """One step down the gradient, each parameter by its sign (torch's optimizers take seconds to import)."""
    for parameter, gradient in zip(model.parameters(), gradients(loss, model), strict=True):
        parameter.data -= step * gradient.sign()


segment_sizes = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=3)
seeds = st.integers(0, 10_000)
