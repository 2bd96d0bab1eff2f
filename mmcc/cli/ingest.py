"""`mmcc ingest`: narrated video, as it lies on a disk, becomes a corpus."""

from __future__ import annotations

import json as json_module
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_BAD_INPUT, EXIT_OK, EXIT_SKIPPED
from mmcc.errors import UsageError
from mmcc.text import one_line


def ingest(
    src: Annotated[Path, Arg("a folder of narrated video, a CrossTask release, a HowTo100M index (.csv), or a file")],
    /,
    *,
    output: Annotated[Path, Arg("the corpus: made, or gone on with", short="-o", metavar="CORPUS")],
    fps: Annotated[float | None, Arg("frames per second (default: 1)", metavar="RATE", above=0)] = None,
    size: Annotated[int, Arg("side of a stored frame, in pixels", metavar="PIXELS", least=8)] = 128,
    fit: Annotated[
        Literal["crop", "letterbox", "short"],
        Arg("how a frame meets its size: cropped to a square, in a square with bars, or by its short side alone"),
    ] = "crop",
    exact: Annotated[bool, Arg("decode every frame; else those that no other refers to are skipped")] = False,
    encoding: Annotated[
        Literal["jpeg", "raw"] | None, Arg("how frames are stored (default: raw up to 64 pixels, else jpeg)")
    ] = None,
    features: Annotated[
        float | None,
        Arg("read <id>.npy arrays [T, dims], RATE vectors a second, in place of video", metavar="RATE", above=0),
    ] = None,
    transcribe: Annotated[bool, Arg("recognise speech where there are no captions (extra: asr)")] = False,
    language: Annotated[str, Arg("captions to prefer", metavar="CODE")] = "en",
    videos: Annotated[Path | None, Arg("where a release's videos are (default: beside it)", metavar="DIR")] = None,
    captions: Annotated[
        Path | None, Arg("where captions are, if not beside the videos: a folder, or a caption.json", metavar="PATH")
    ] = None,
    category: Annotated[str | None, Arg("only this category of a HowTo100M index", metavar="NAME")] = None,
    workers: Annotated[int | None, Arg("files to decode at once (default: one per core)", metavar="N", least=1)] = None,
    time_limit: Annotated[float, Arg("seconds a file may take", metavar="SECONDS", above=0)] = 7200,
    memory_limit: Annotated[float, Arg("GB a file may take", metavar="GB", least=1)] = 4,
    max_hours: Annotated[float, Arg("longest video", metavar="HOURS", above=0)] = 12,
    max_pixels: Annotated[int, Arg("largest frame, width times height", metavar="N", least=1)] = 8192 * 4320,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
    verbose: Annotated[bool, Arg("say which captions were chosen, and why", short="-v")] = False,
) -> int:
    """Turn narrated video, as it lies on a disk, into a corpus.

    Stop it at any moment and run it again: it goes on where it was.

    examples:
      mmcc ingest ~/Videos/cooking -o cooking.corpus
      mmcc ingest crosstask_release -o crosstask.corpus --videos /data/crosstask/videos
      mmcc ingest HowTo100M_v1.csv -o recipes.corpus --category Recipes --videos /data/howto --captions caption.json
    """
    from mmcc.corpus.find import find_source
    from mmcc.corpus.ingest import IngestSettings
    from mmcc.corpus.ingest import ingest as run_ingest
    from mmcc.corpus.summary import render_ingest
    from mmcc.media.sandbox import Limits
    from mmcc.media.speech import require_speech
    from mmcc.media.video import Sampling
    from mmcc.progress import file_progress

    if features is not None and fps is not None:
        raise UsageError("--fps does not go with --features: features keep the rate they were extracted at.")
    if transcribe:
        if features is not None:
            raise UsageError("--transcribe does not go with --features: there is no sound to listen to.")
        require_speech()
        if not language.lower().startswith("en"):
            raise UsageError(f"--transcribe knows English only, not --language {language}.")
    source = find_source(
        src, videos=videos, captions=captions, category=category, features=features is not None, language=language
    )
    for line in source.summary + (source.choices if verbose else []):
        print(one_line(line), file=sys.stderr)
    settings = IngestSettings(
        Sampling(fps or 1.0, size, fit, exact, max_pixels, max_hours * 3600),
        feature_rate=features,
        encoding=encoding,
        transcribe=transcribe,
        language=language,
        workers=workers or os.cpu_count() or 1,
        limits=Limits(seconds=time_limit, memory=int(memory_limit * (1 << 30))),
    )
    with file_progress("ingest") as progress:
        report = run_ingest(source, output, settings, progress)
    print(json_module.dumps(report.to_json(), ensure_ascii=False) if json else render_ingest(report, output))
    if not report.ingested and not report.segments:  # annotations alone are something
        return EXIT_BAD_INPUT
    return EXIT_SKIPPED if report.skipped else EXIT_OK
