"""Settings out of range are refused by name."""

import pytest

from mmcc.data import DataConfig


@pytest.mark.parametrize(
    "changes",
    [
        {"segment_seconds": 0.0},
        {"frame_rates": ()},
        {"frame_rates": (1.0, -1.0)},
        {"validation_rate": 0.0},
        {"max_frames": 1},
        {"max_utterances": 1},
        {"min_frames": -1},
        {"fold": "5/5"},
        {"fold": "1 of 5"},
        {"tries": 0},
        {"max_words": 0},
        {"max_vocabulary": 2},
        {"crop_smallest": 0.0},
        {"flip": 1.5},
        {"colour": 1.0},
    ],
)
def test_a_setting_out_of_range_is_named(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        DataConfig(**changes)
