"""Real timelines, with features and words simulated around them."""

import numpy as np

from mmcc.corpus.crosstask import read_crosstask
from mmcc.corpus.source import Item, Step, Task
from mmcc.kitchen.features import DIMS, script_features
from mmcc.kitchen.plan import KitchenSettings, script_of
from mmcc.kitchen.semi_real import plan_from

TASKS = {"7": Task("7", "Change a Tire", ("brake on", "jack up", "unscrew wheel"))}


def planned(*steps):
    return plan_from(TASKS, [Item("abc", None, tasks=("7",), steps=tuple(Step(*step) for step in steps))], seed=0)


def test_the_timeline_is_the_real_one():
    (video,) = planned((2, 10.5, 14.0), (1, 3.0, 6.0), (3, 13.0, 13.0))
    assert [tuple(shown) for shown in video.timeline.shown] == [(0, 3.0, 6.0), (1, 10.5, 14.0), (2, 13.0, 13.1)]
    assert 19.0 <= video.timeline.duration <= 29.0
    assert video.split == "train"


def test_a_video_without_steps_is_left_out():
    assert plan_from(TASKS, [Item("abc", None, tasks=("7",))], seed=0) == []


def test_what_was_done_lies_on_the_table():
    (video,) = planned((1, 3.0, 6.0), (2, 10.0, 14.0))
    script = script_of(video, KitchenSettings())
    assert [portion.item for portion in script.at(9.0).scene["table"].top] == ["brake on"]
    assert script.at(11.0).step.text == "jack up"


def test_the_whole_release(shared):
    release = read_crosstask(shared / "crosstask" / "crosstask_release")
    videos = plan_from(release.tasks, release.items, seed=0)
    assert len(videos) == 2750
    assert sum(len(video.timeline.shown) for video in videos) == 20919
    script = script_of(videos[0], KitchenSettings())
    features = script_features(script)
    assert features.shape == (int(script.timeline.duration), DIMS) and np.isfinite(features).all()
    assert sum(spoken.about is not None for spoken in script.spoken) > 0
