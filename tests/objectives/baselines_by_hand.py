"""The baselines' equations, one node at a time, in Python loops: the reference for the fast code."""

import torch
from torch import Tensor

from mmcc.models.nodes import TEXT, VISION
from tests.objectives.by_hand import OTHER, nearest


def mil_nce_terms(segments, *, window=2, temperature=0.1) -> list[Tensor]:
    """Eq. 13 as MIL-NCE has it: positives of weight one around the nearest node, negatives of other segments."""

    def power(one, other):
        return torch.exp(torch.dot(one, other) / temperature)

    terms = []
    for own in (VISION, TEXT):
        for b, segment in enumerate(segments):
            M, X = segment[own], segment[OTHER[own]]
            others = [each for b2, each in enumerate(segments) if b2 != b]
            for i in range(len(M.pi) if X.pi else 0):
                j = nearest(M.times[i], X.times)
                positives = sum(power(M.pi[i], X.pi[c]) for c in range(len(X.pi)) if abs(c - j) <= window)
                row = sum(power(M.pi[i], pi) for each in others for pi in each[OTHER[own]].pi)
                column = sum(power(pi, X.pi[j]) for each in others for pi in each[own].pi)
                terms.append(-torch.log(positives / (positives + row + column)))
    return terms


def anticipation_terms(model, segments, targets, *, across=False) -> list[Tensor]:
    """Eq. 10 or 11: `targets(segment, own, i, ahead)` lists the nodes that M_i may predict."""
    terms = []
    for segment in segments:
        for own in (VISION, TEXT):
            ahead = OTHER[own] if across else own
            for i, z in enumerate(segment[own].z):
                prediction = model.future(z)
                costs = [-cosine(prediction, segment[ahead].pi[j].detach()) for j in targets(segment, own, i, ahead)]
                if costs:
                    terms.append(min(costs))
    return terms


def ra_targets(segment, own, i, ahead, *, seconds=1.0, tolerance=0.25):
    time, times = segment[own].times[i], segment[ahead].times
    if own == ahead == TEXT:
        return [i + 1] if i + 1 < len(times) else []
    later = [j for j in range(len(times)) if (j > i if own == ahead else times[j] > time)]
    if not later:
        return []
    best = min(later, key=lambda j: (abs(times[j] - time - seconds), j))
    return [best] if own != ahead or abs(times[best] - time - seconds) <= tolerance else []


def tap_targets(segment, own, i, ahead):
    times = segment[ahead].times
    return [j for j in range(len(times)) if (j > i if own == ahead else times[j] > segment[own].times[i])]


def cosine(one: Tensor, other: Tensor) -> Tensor:
    return torch.dot(one, other) / (one.norm() * other.norm())


def unit(x: Tensor) -> Tensor:
    return x / x.norm()


def gru_step(gru, x: Tensor, c: Tensor) -> Tensor:
    """The gates of a GRU (Cho et al., 2014), as torch documents them."""
    W, U, b, d = gru.weight_ih_l0, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0
    (Wr, Wz, Wn), (Ur, Uz, Un) = W.chunk(3), U.chunk(3)
    (br, bz, bn), (dr, dz, dn) = b.chunk(3), d.chunk(3)
    reset = torch.sigmoid(Wr @ x + br + Ur @ c + dr)
    update = torch.sigmoid(Wz @ x + bz + Uz @ c + dz)
    new = torch.tanh(Wn @ x + bn + reset * (Un @ c + dn))
    return (1 - update) * new + update * c


def remembered(model, c: Tensor, way: str) -> Tensor:
    """ẑ: the weighted sum of memories, one after another."""
    powers = [torch.exp(score) for score in model.addresses[way](c)]
    whole = sum(powers)
    return unit(sum(power / whole * memory for power, memory in zip(powers, model.memory, strict=True)))


def memdpc_terms(model, films: list[list[Tensor]], way: str, *, horizon=3, temperature=0.1) -> list[Tensor]:
    """`films` holds the unit-norm z of each segment's nodes in order of time."""
    everything = [z for film in films for z in film]
    terms = []
    for film in films:
        seen = film if way == "future" else film[::-1]
        root = len(film[0]) ** 0.5 if film else 0
        c = torch.zeros_like(everything[0])
        for t, z in enumerate(seen):
            c = gru_step(model.aggregators[way], root * z, c)
            imagined = c
            for k in range(1, horizon + 1):
                if t + k < len(seen):
                    prediction = remembered(model, imagined, way)
                    below = sum(torch.exp(torch.dot(prediction, other) / temperature) for other in everything)
                    terms.append(-torch.log(torch.exp(torch.dot(prediction, seen[t + k]) / temperature) / below))
                    imagined = gru_step(model.aggregators[way], root * prediction, imagined)
    return terms
