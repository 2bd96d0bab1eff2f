"""The paper's equations, one node at a time, in Python loops: the reference for the fast code."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mmcc.models.nodes import TEXT, VISION, Nodes

OTHER = {VISION: TEXT, TEXT: VISION}


@dataclass
class Side:
    """The valid nodes of one modality of one segment."""

    z: list[Tensor]
    pi: list[Tensor]
    times: list[float]


@dataclass
class Walk:
    """One cycle's stations."""

    start_edge: dict[int, Tensor] = field(default_factory=dict)
    future_edge: dict[int, Tensor] = field(default_factory=dict)
    counterpart_edge: dict[int, Tensor] = field(default_factory=dict)
    returns: dict[int, Tensor] = field(default_factory=dict)  # p of Eq. 5
    index: int = -1
    ahead: str = ""
    visual: list[Tensor] = field(default_factory=list)  # start, future, back
    future_query: Tensor | None = None
    past_query: Tensor | None = None


def segments(nodes: dict[str, Nodes]) -> list[dict[str, Side]]:
    def side(side: Nodes, b: int) -> Side:
        places = [i for i in range(side.valid.shape[1]) if side.valid[b, i]]
        return Side(
            [side.z[b, i] for i in places], [side.pi[b, i] for i in places], [float(side.times[b, i]) for i in places]
        )

    return [{m: side(nodes[m], b) for m in (VISION, TEXT)} for b in range(len(nodes[VISION].valid))]


def attention(query: Tensor, keys: list[Tensor], allowed, temperature: float) -> dict[int, Tensor]:
    """Eq. 1, the weights."""
    powers = {i: torch.exp(torch.dot(query, keys[i]) / temperature) for i in allowed}
    whole = sum(powers.values())
    return {i: power / whole for i, power in powers.items()}


def mixture(weights: dict[int, Tensor], values: list[Tensor], like: Tensor) -> Tensor:
    return sum((weight * values[i] for i, weight in weights.items()), torch.zeros_like(like))


def walk(model, segment, own, alpha, unimodal, *, path="within", constrain=True, hard=False, temperature=0.1) -> Walk:
    """Eq. 2 to 5."""
    other = OTHER[own]
    ahead = own if path == "within" else other
    M, X, A, B = segment[own], segment[other], segment[ahead], segment[OTHER[ahead]]
    t_alpha = M.times[alpha]
    found = Walk(ahead=ahead)

    found.start_edge = attention(M.pi[alpha], X.pi, range(len(X.pi)), temperature)
    z = {own: M.z[alpha], other: mixture(found.start_edge, X.z, M.z[alpha])}
    state = z[ahead] if unimodal else model.combine(z[VISION], z[TEXT])
    found.future_query = model.future(state)
    candidates = [i for i in range(len(A.pi)) if not constrain or (i > alpha if ahead == own else A.times[i] > t_alpha)]
    found.future_edge = attention(found.future_query, A.pi, candidates, temperature)
    found.index = max(candidates, key=lambda i: torch.dot(found.future_query, A.pi[i]).item())
    z_ahead = A.z[found.index] if hard else mixture(found.future_edge, A.z, M.z[alpha])
    found.counterpart_edge = attention(model.project(z_ahead, ahead), B.pi, range(len(B.pi)), temperature)
    z_beta = {ahead: z_ahead, OTHER[ahead]: mixture(found.counterpart_edge, B.z, z_ahead)}

    state = z_beta[own] if unimodal else model.combine(z_beta[VISION], z_beta[TEXT])
    found.past_query = model.past(state)
    candidates = [
        i
        for i in range(len(M.pi))
        if not constrain or (i < found.index if ahead == own else M.times[i] < A.times[found.index])
    ]
    found.returns = attention(found.past_query, M.pi, candidates, temperature)
    z_back = mixture(found.returns, M.z, M.z[alpha])
    if own == TEXT:
        V = segment[VISION]
        edge = attention(model.project(z_back, TEXT), V.pi, range(len(V.pi)), temperature)
        z_back = mixture(edge, V.z, z_back)
    found.visual = [z[VISION], z_beta[VISION], z_back]
    return found


def walks(model, nodes, starts, **options):
    """(b, s, α, stations by hand) of every valid start."""
    everything = segments(nodes)
    for b, s in starts.valid.nonzero().tolist():
        alpha = int(starts.index[b, s])
        unimodal = bool(starts.unimodal[b, s])
        yield b, s, alpha, walk(model, everything[b], starts.modality, alpha, unimodal, **options)


def cycle_term(found: Walk, alpha: int) -> Tensor:
    """Eq. 6."""
    return -torch.log(found.returns[alpha])


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return torch.dot(a, b) / (torch.linalg.norm(a) * torch.linalg.norm(b))


def similarity_term(found: Walk, margin: float) -> Tensor:
    """Eq. 8."""
    start, future, back = found.visual
    zero = torch.zeros((), dtype=start.dtype)
    return torch.maximum(cosine(start, future) - margin, zero) + torch.maximum(cosine(future, back) - margin, zero)


def direction_terms(parts, segments, b, own, alpha, found: Walk, *, gap=2.0, batch_nodes=False, temperature=0.1):
    """Append to `parts` what one cycle of segment b adds to each part of the direction loss."""
    for name, query, modality, place, sign in (
        ("future", found.future_query, own, alpha, 1),
        ("past", found.past_query, found.ahead, found.index, -1),
    ):
        t = segments[b][modality].times[place]
        for kind, over in (("within", modality), ("across", OTHER[modality])):
            side = segments[b][over]
            if kind == "within":
                wanted = [i for i in range(len(side.pi)) if sign * (i - place) > 0]
            else:
                wanted = [i for i in range(len(side.pi)) if sign * (side.times[i] - t) > gap]
            everything = side.pi
            if kind == "across" and batch_nodes:
                everything = [pi for segment in segments for pi in segment[over].pi]
            if wanted:
                above = sum(torch.exp(torch.dot(query, side.pi[i]) / temperature) for i in wanted)
                below = sum(torch.exp(torch.dot(query, pi) / temperature) for pi in everything)
                parts.setdefault(f"{name}_{kind}", []).append(-torch.log(above / below))


def nearest(time: float, times: list[float]) -> int:
    return min(range(len(times)), key=lambda j: (abs(times[j] - time), j))


def cross_modal_terms(segments, *, window=2, sigma=1.5, least_weight=0.01, temperature=0.1) -> list[Tensor]:
    """Eq. 13 with the appendix's changes, one anchor at a time, over explicit sets of pairs."""
    terms = []
    for own in (VISION, TEXT):
        other = OTHER[own]
        for b, segment in enumerate(segments):
            M, X = segment[own], segment[other]
            for i in range(len(M.pi)):
                if not X.pi:
                    continue
                j = nearest(M.times[i], X.times)
                i_of_j = nearest(X.times[j], M.times)

                def weight(a, c, M=M, X=X):
                    return math.exp(-((M.times[a] - X.times[c]) ** 2) / (2 * sigma**2))

                around_j = [c for c in range(len(X.pi)) if abs(c - j) <= window]
                around_i = [a for a in range(len(M.pi)) if abs(a - i_of_j) <= window]
                row = {(b, i, b, c) for c in around_j if weight(i, c) >= least_weight}
                column = {(b, a, b, j) for a in around_i if weight(a, j) >= least_weight}
                if not row:
                    continue
                everything = {(b, i, b2, c) for b2, s in enumerate(segments) for c in range(len(s[other].pi))}
                everything |= {(b2, a, b, j) for b2, s in enumerate(segments) for a in range(len(s[own].pi))}

                def power(pair, own=own, other=other):
                    b1, a, b2, c = pair
                    return torch.exp(torch.dot(segments[b1][own].pi[a], segments[b2][other].pi[c]) / temperature)

                above = sum(weight(a, c) * power((b1, a, b2, c)) for b1, a, b2, c in sorted(row | column))
                terms.append(-torch.log(above / sum(power(pair) for pair in sorted(everything))))
    return terms


def mean(terms: list[Tensor]) -> Tensor:
    return sum(terms) / len(terms) if terms else torch.zeros(())
