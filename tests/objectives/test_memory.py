"""What came before a node, and after it."""

from dataclasses import replace

import torch
from hypothesis import given, settings

from mmcc.models.nodes import VISION
from mmcc.objectives.memory import future_and_past_with_memory, means_around
from tests.objectives.stand_in import StandIn, random_nodes, seeds, segment_sizes


@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=30, deadline=None)
def test_the_means_are_those_of_a_loop(sizes, seed):
    nodes = random_nodes(StandIn(), sizes, seed, padding=seed % 3)[VISION]
    before, after = means_around(nodes)
    for b, valid in enumerate(nodes.valid):
        count = int(valid.sum())
        for i in range(count):
            nothing = torch.zeros_like(nodes.z[b, i])
            expected = nodes.z[b, :i].mean(dim=0) if i else nothing
            torch.testing.assert_close(before[b, i], expected, rtol=1e-4, atol=1e-5)
            expected = nodes.z[b, i + 1 : count].mean(dim=0) if i + 1 < count else nothing
            torch.testing.assert_close(after[b, i], expected, rtol=1e-4, atol=1e-5)


def test_the_first_node_has_no_past_to_remember_and_the_last_no_future():
    model = StandIn(remembers=True)
    nodes = random_nodes(model, [(3, 1), (1, 1)], 5, padding=1)[VISION]
    everyone = torch.ones_like(nodes.valid)
    future, past = future_and_past_with_memory(model, nodes, nodes.z, everyone)
    alone_future, alone_past = model.future(nodes.z), model.past(nodes.z)
    same_future, same_past = ((one == other).all(dim=-1) for one, other in ((future, alone_future), (past, alone_past)))
    assert same_future[nodes.valid].tolist() == [True, False, False, True]
    assert same_past[nodes.valid].tolist() == [False, False, True, True]


def test_who_does_not_remember_sees_the_present_alone():
    model = StandIn(remembers=True)
    nodes = random_nodes(model, [(4, 1)], 2)[VISION]
    some = torch.tensor([[False, True, False, False]])
    future, past = future_and_past_with_memory(model, nodes, nodes.z, some)
    for found, alone in ((future, model.future(nodes.z)), (past, model.past(nodes.z))):
        assert ((found == alone).all(dim=-1) == ~some).all()


def test_nothing_later_reaches_a_future():
    """However what comes later changes, the future predicted from a node stays the same; and so for pasts."""
    model = StandIn(remembers=True)
    nodes = random_nodes(model, [(5, 1)], 3)[VISION]
    everyone = torch.ones_like(nodes.valid)
    future, past = future_and_past_with_memory(model, nodes, nodes.z, everyone)
    shift = torch.zeros_like(nodes.z)
    shift[0, 3:] = 1
    later = replace(nodes, z=nodes.z + shift)
    changed, _ = future_and_past_with_memory(model, later, later.z, everyone)
    assert torch.equal(changed[0, :3], future[0, :3]) and not torch.equal(changed[0, 4], future[0, 4])
    earlier = replace(nodes, z=nodes.z + shift.flip(1))
    _, changed = future_and_past_with_memory(model, earlier, earlier.z, everyone)
    torch.testing.assert_close(changed[0, 2:], past[0, 2:])  # sums of the rest, but for rounding
    assert not torch.allclose(changed[0, 0], past[0, 0])
