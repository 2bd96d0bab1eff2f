"""How fast a kitchen is written, and whether ingest reads all of it back.

    python -m benchmarks.speed.kitchen [--videos 1200]

The limit: 1,200 videos of about three minutes in ten minutes on two cores, so half a second of wall-clock time each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Figures, ingest, run_mmcc
from mmcc.corpus import Corpus
from mmcc.kitchen.plan import KitchenSettings, plan, timeline_of

SECONDS_PER_VIDEO = 10 * 60 / 1200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=1200)
    videos = parser.parse_args().videos
    figures = Figures()
    with TemporaryDirectory() as folder:
        world, corpus = Path(folder, "kitchen"), Path(folder, "corpus")
        seconds, _ = run_mmcc("kitchen", world, "--videos", videos, "--workers", 2)
        figures.show("time to write it / ten minutes per 1,200 videos", seconds / (videos * SECONDS_PER_VIDEO), most=1)
        again, _ = run_mmcc("kitchen", world, "--videos", videos, "--workers", 2)
        figures.show("time of a second run, with nothing left to do / the first", again / seconds, most=0.1)
        ingest(world, corpus, "--size", 48)  # fails where a file was skipped
        show_read_back(figures, Corpus.open(corpus), videos)
    figures.exit()


def show_read_back(figures: Figures, corpus: Corpus, videos: int) -> None:
    planned = {each.id: each for each in plan(KitchenSettings(videos=videos))}
    wrong = [name for name in planned if name not in corpus.ids or corpus[name].status != "ok"]
    figures.show("videos that ingest did not read whole", len(wrong), most=0)
    segments = sum(len(timeline_of(each).shown) for each in planned.values())
    found = sum(len(corpus[name].steps) for name in corpus.ids)
    figures.show("labelled segments read / written", found / segments, most=1, least=1)
    silent = sum(not corpus[name].utterances for name in corpus.ids)
    figures.show("videos without an utterance", silent, most=0)


if __name__ == "__main__":
    main()
