"""Changes of a video that does not exist."""

from types import SimpleNamespace

import numpy as np

from mmcc.tools.transitions import Change, Narration, VideoChanges

HOSTILE = "a=b;c#d \\ <img src=x onerror=alert(1)> & `rm` [x](y) --> z"


def footage(name="soup.mp4", seconds=120, duration=None, text="cut <b>onions</b>", encoding="jpeg", path=None):
    """Footage of which only times, words and stills are looked at."""
    video = SimpleNamespace(
        times=np.arange(float(seconds)), duration=float(duration or seconds), details={"source": ""}
    )
    corpus = SimpleNamespace(manifest=SimpleNamespace(fps=1.0, encoding=encoding))
    picture = np.zeros((16, 16, 3), np.uint8) if encoding == "jpeg" else None
    return SimpleNamespace(
        name=name, key=name, path=path, video=video, corpus=corpus, said_at=lambda time: text, still=lambda at: picture
    )


def video_changes(pairs, narration=(), **options):
    of = footage(**options)
    times, texts, seen = ([row[at] for row in narration] for at in range(3))
    return VideoChanges(of, [Change(of, u, v, -9.0, 2.0) for u, v in pairs], Narration(times, texts, seen))
