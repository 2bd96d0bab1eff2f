"""Real timelines, with features and words simulated around them."""

from pathlib import Path

import numpy as np
import pytest

from mmcc.corpus.crosstask import read_crosstask
from mmcc.corpus.source import Item, LabelledClip, Task
from mmcc.errors import InputError
from mmcc.kitchen.features import DIMS, script_features
from mmcc.kitchen.plan import KitchenSettings, script_of
from mmcc.kitchen.semi_real import plan_from

TASKS = {"7": Task("7", "Change a Tire", ("brake on", "jack up", "unscrew wheel"))}


def planned(*steps):
    video = Item("abc", None, tasks=("7",), steps=tuple(LabelledClip(*step) for step in steps))
    return plan_from(Path("release"), TASKS, [video])[1]


def test_the_timeline_is_the_real_one():
    (video,) = planned((2, 10.5, 14.0), (1, 3.0, 6.0), (3, 13.0, 13.0))
    assert [tuple(shown) for shown in video.timeline.shown] == [(0, 3.0, 6.0), (1, 10.5, 14.0), (2, 13.0, 13.1)]
    assert 19.0 <= video.timeline.duration <= 29.0
    assert video.split == "train"


def test_a_video_without_steps_is_skipped():
    bare, labelled = (
        Item("bare", None, tasks=("7",)),
        Item("abc", None, tasks=("7",), steps=(LabelledClip(1, 2.0, 3.0),)),
    )
    settings, videos = plan_from(Path("some/release"), TASKS, [bare, labelled], seed=4)
    assert [video.id for video in videos] == ["abc"]
    assert (settings.videos, settings.tasks, settings.seed, settings.timelines) == (1, 1, 4, "release")


def test_a_release_without_labels_is_refused():
    with pytest.raises(InputError, match="no video with labelled steps"):
        plan_from(Path("release"), TASKS, [Item("bare", None, tasks=("7",))])


def test_no_sentence_says_where_a_real_step_happens():
    (video,) = planned((1, 3.0, 60.0), (2, 70.0, 140.0))
    said = [spoken.text for spoken in script_of(video, KitchenSettings()).spoken if spoken.about is not None]
    assert len(said) > 5 and not any("table" in text for text in said)


def test_what_was_done_lies_on_the_table():
    (video,) = planned((1, 3.0, 6.0), (2, 10.0, 14.0))
    script = script_of(video, KitchenSettings())
    assert [portion.item for portion in script.at(9.0).scene["table"].top] == ["brake on"]
    assert script.at(11.0).step.text == "jack up"


def test_the_whole_release(shared):
    release = read_crosstask(shared / "crosstask" / "crosstask_release")
    _, videos = plan_from(Path("release"), release.tasks, release.items)
    assert len(videos) == 2750
    assert sum(len(video.timeline.shown) for video in videos) == 20919
    script = script_of(videos[0], KitchenSettings())
    features = script_features(script)
    assert features.shape == (int(script.timeline.duration), DIMS) and np.isfinite(features).all()
    assert sum(spoken.about is not None for spoken in script.spoken) > 0


def test_another_seed_films_and_narrates_it_differently():
    video = Item("abc", None, tasks=("7",), steps=(LabelledClip(1, 3.0, 30.0), LabelledClip(2, 40.0, 70.0)))
    scripts = []
    for seed in (0, 1):
        settings, (one,) = plan_from(Path("release"), TASKS, [video], seed=seed)
        scripts.append(script_of(one, settings))
    assert scripts[0].timeline.shown == scripts[1].timeline.shown
    assert scripts[0].shots != scripts[1].shots and scripts[0].spoken != scripts[1].spoken
    vectors = [script_features(script)[:75] for script in scripts]
    assert not (vectors[0] == vectors[1]).all(axis=1).any()
