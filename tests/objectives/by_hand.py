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


def state(model, segment, own: str, place: int, unimodal: bool, temperature: float = 0.1) -> Tensor:
    """A node's own z, or f of both modalities, its counterpart by Eq. 2."""
    M, X = segment[own], segment[OTHER[own]]
    if unimodal or not X.z:
        return M.z[place]
    edge = attention(M.pi[place], X.pi, range(len(X.pi)), temperature)
    z = {own: M.z[place], OTHER[own]: mixture(edge, X.z, M.z[place])}
    return model.combine(z[VISION], z[TEXT])


def direction_terms(
    model, segments, own: str, unimodal, remembers=lambda b, i: False, *, gap=2.0, temperature=0.1
) -> dict[str, list[Tensor]]:
    """The parts of the direction loss from all anchors of a modality; `unimodal(b, i)` and `remembers(b, i)`: whether
    an anchor is, and does."""

    def seen(b, i, sign):
        """The state of anchor i, with the mean of what came before it (after it, for pasts)."""
        now = state(model, segments[b], own, i, unimodal(b, i), temperature)
        z = segments[b][own].z
        others = [z[j] for j in range(len(z)) if sign * (i - j) > 0]
        return model.remember(now, sum(others) / len(others)) if others and remembers(b, i) else now

    terms: dict[str, list[Tensor]] = {"leads": [], "arrives": [], "contrast": []}
    for predict, sign in ((model.future, 1), (model.past, -1)):
        queries = [
            [predict(seen(b, i, sign)) for i in range(len(segment[own].z))] for b, segment in enumerate(segments)
        ]
        for over in (VISION, TEXT):
            _direction_terms(terms, segments, queries, own, over, sign, gap, temperature)
    return terms


def _direction_terms(terms, segments, queries, own, over, sign, gap, temperature):
    def power(query, pi):
        return torch.exp(torch.dot(query, pi) / temperature)

    def lies_ahead(segment, i, j, sign):
        if own == over:
            return sign * (j - i) > 0
        return sign * (segment[over].times[j] - segment[own].times[i]) > gap

    all_queries = [query for of_segment in queries for query in of_segment]
    all_nodes = [pi for segment in segments for pi in segment[over].pi]
    for segment, of_segment in zip(segments, queries, strict=True):
        targets = segment[over].pi

        def P(j, i, of_segment=of_segment, targets=targets):
            return power(of_segment[i], targets[j]) / sum(power(of_segment[i], pi) for pi in all_nodes)

        for i in range(len(of_segment)):
            ahead = [j for j in range(len(targets)) if lies_ahead(segment, i, j, sign)]
            if ahead:
                everything = targets if own == over else all_nodes
                above, below = (
                    sum(power(of_segment[i], pi) for pi in pis) for pis in ([targets[j] for j in ahead], everything)
                )
                terms["leads"].append(-torch.log(above / below))
        for j, pi in enumerate(targets):
            before = [i for i in range(len(of_segment)) if lies_ahead(segment, i, j, sign)]
            after = [i for i in range(len(of_segment)) if lies_ahead(segment, i, j, -sign)]
            if before:
                everything = sum(power(query, pi) for query in all_queries)
                terms["arrives"].append(-torch.log(sum(power(of_segment[i], pi) for i in before) / everything))
            if before and after:
                over_now = sum(P(j, k) for k in after) / len(after)
                costs = [-torch.log(torch.sigmoid(torch.log(P(j, i)) - torch.log(over_now))) for i in before]
                terms["contrast"].append(sum(costs) / len(costs))


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
