"""Version 1 of the kitchen, pinned. A change of any hash here changes the world and needs a new KITCHEN_VERSION."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from mmcc.corpus.source import Item, LabelledClip, Task
from mmcc.kitchen import KITCHEN_VERSION
from mmcc.kitchen.captions import write_clean, write_rolling
from mmcc.kitchen.drawing.painter import Painter
from mmcc.kitchen.features import script_features
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.recipes import PRIMARY, RELATED
from mmcc.kitchen.semi_real import plan_from

SETTINGS = KitchenSettings(videos=480)
RATE = 0.1  # of the frames that are pinned


@pytest.fixture(scope="module")
def scripts():
    """A video of every task, primary and related."""
    firsts = {each.recipe.id: each for each in reversed(plan(SETTINGS))}
    assert len(firsts) == len(PRIMARY) + len(RELATED)
    return [script_of(each, SETTINGS) for _, each in sorted(firsts.items())]


def digest(parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else part.encode())
    return total.hexdigest()[:16]


def test_the_version():
    assert KITCHEN_VERSION == 1


def test_the_course_of_the_videos(scripts):
    """Timelines, shots, and the scene graph at every second."""
    graphs = (
        json.dumps([asdict(script.timeline), [asdict(shot) for shot in script.shots]])
        + json.dumps([asdict(moment.scene) for moment in script.moments(1)])
        for script in scripts
    )
    assert digest(graphs) == "1e6dbfec2ab1c9e4"


def test_their_frames_before_encoding(scripts):
    frames = (frame.tobytes() for script in scripts for frame in Painter(script, SETTINGS.size).frames(RATE))
    assert digest(frames) == "995dba4f2384118e"


def test_their_words(scripts):
    texts = (write(script.spoken) for script in scripts for write in (write_clean, write_rolling))
    assert digest(texts) == "795c326c83ca4308"


def test_greetings_and_farewells():
    welcoming = KitchenSettings(videos=18, bookends=True)
    texts = (write_clean(script_of(each, welcoming).spoken) for each in plan(welcoming))
    assert digest(texts) == "5ebc26ae56c33bac"


def test_the_semi_real_variant():
    tasks = {"7": Task("7", "Change a Tire", ("brake on", "jack up", "unscrew wheel"))}
    steps = (LabelledClip(1, 12.5, 20.0), LabelledClip(2, 31.0, 60.25), LabelledClip(3, 58.0, 90.0))
    settings, (video,) = plan_from(Path("release"), tasks, [Item("abc", None, tasks=("7",), steps=steps)], seed=3)
    script = script_of(video, settings)
    assert digest([write_clean(script.spoken), vectors(script)]) == "38d7c6bb9587f208"


def vectors(script):
    return script_features(script).astype("<f4").tobytes()


def test_their_vectors(scripts):
    assert digest(map(vectors, scripts)) == "da1f4d99174d9ee9"
