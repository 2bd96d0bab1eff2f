"""What is kept between requests stays within its bytes."""

from hypothesis import given
from hypothesis import strategies as st

from mmcc.app.memory import Recent


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), max_size=60), st.integers(1, 100))
def test_it_keeps_the_most_recent_that_fit(uses, limit):
    """Against a list that is searched from its end."""
    recent, by_hand = Recent(limit), []
    for key, size in uses:
        recent.put(key, f"{key}/{size}", size)
        by_hand = [each for each in by_hand if each[0] != key]
        if size <= limit:
            by_hand.append((key, size))
        while sum(size for _, size in by_hand) > limit:
            by_hand.pop(0)
        assert recent.bytes == sum(size for _, size in by_hand) <= limit and len(recent) == len(by_hand)
    for key in range(10):
        size = dict(by_hand).get(key)
        assert recent.get(key) == (None if size is None else f"{key}/{size}")


def test_what_is_used_stays():
    recent = Recent(2)
    recent.put("a", 1, 1)
    recent.put("b", 2, 1)
    assert recent.get("a") == 1
    recent.put("c", 3, 1)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]
