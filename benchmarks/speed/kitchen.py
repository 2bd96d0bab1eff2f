"""Time to write a kitchen, and whether ingest reads all of it back.

    python -m benchmarks.speed.kitchen [--videos 1200]

The bound is ten minutes on two cores for 1,200 videos of about three minutes, so half a second of wall-clock time each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Figure, Figures, command_line, finish, ingest, run_mmcc
from mmcc.corpus import Corpus
from mmcc.kitchen.plan import KitchenSettings, plan, timeline_of

SECONDS_PER_VIDEO = 10 * 60 / 1200


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=1200)
    videos = parser.parse_args(arguments).videos
    figures = Figures()
    with TemporaryDirectory() as folder:
        world, corpus = Path(folder, "kitchen"), Path(folder, "corpus")
        seconds, _ = run_mmcc("kitchen", world, "--videos", videos, "--workers", 2)
        figures.at_most("time to write it / ten minutes per 1,200 videos", seconds / (videos * SECONDS_PER_VIDEO), 1)
        again, _ = run_mmcc("kitchen", world, "--videos", videos, "--workers", 2)
        figures.at_most("time of a second run with nothing left to do / the first", again / seconds, 0.1)
        ingest(world, corpus, "--size", 48)  # fails if a file was skipped
        show_read_back(figures, Corpus.open(corpus), videos)
    return figures.measured


def show_read_back(figures: Figures, corpus: Corpus, videos: int) -> None:
    planned = {each.id: each for each in plan(KitchenSettings(videos=videos))}
    wrong = [name for name in planned if name not in corpus.ids or corpus[name].status != "ok"]
    figures.at_most("videos that ingest did not read completely", len(wrong), 0)
    clips = sum(len(timeline_of(each).shown) for each in planned.values())
    found = sum(len(corpus[name].steps) for name in corpus.ids)
    figures.equal("labelled clips read / written", found / clips, 1)
    silent = sum(not corpus[name].utterances for name in corpus.ids)
    figures.at_most("videos without utterances", silent, 0)


if __name__ == "__main__":
    finish(main())
