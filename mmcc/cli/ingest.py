"""`mmcc ingest`: narrated video on disk becomes a corpus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.engines import Address, EngineName, opened, refuse_remote, require_engine
from mmcc.cli.exit_codes import EXIT_BAD_INPUT, EXIT_SKIPPED
from mmcc.cli.output import answer
from mmcc.errors import UsageError
from mmcc.terminal import note

if TYPE_CHECKING:
    from mmcc.corpus.embeddings import EmbedReport
    from mmcc.engines.base import Engine

_SIZE = 128  # pixels


def ingest(
    src: Annotated[
        Path,
        Arg("a folder of narrated video, a CrossTask release, a HowTo100M index (.csv), or a file", remote=True),
    ],
    /,
    *,
    output: Annotated[
        Path, Arg("corpus folder (created, or resumed), or s3://…", short="-o", metavar="CORPUS", remote=True)
    ],
    fps: Annotated[float | None, Arg("frames per second (default: 1)", metavar="RATE", above=0)] = None,
    size: Annotated[
        int | None,
        Arg("side of a stored frame, in pixels (default: 128, or what the encoder reads)", metavar="PIXELS", least=8),
    ] = None,
    fit: Annotated[
        Literal["crop", "letterbox", "short"],
        Arg("how frames are fitted: cropped to a square, letterboxed, or scaled by the short side"),
    ] = "crop",
    exact: Annotated[bool, Arg("decode every frame; by default, frames that no other refers to are skipped")] = False,
    encoding: Annotated[
        Literal["jpeg", "raw"] | None, Arg("how to store frames (default: raw up to 64 pixels, jpeg above)")
    ] = None,
    features: Annotated[
        float | None,
        Arg("read <id>.npy arrays [T, dims] with RATE vectors per second instead of video", metavar="RATE", above=0),
    ] = None,
    encode: Annotated[
        str | None,
        Arg("also embed: the frames with this encoder, e.g. efficientnet-lite2, the text with minilm", metavar="NAME"),
    ] = None,
    transcribe: Annotated[bool, Arg("recognize speech in videos without captions (extra: asr)")] = False,
    language: Annotated[str, Arg("language of captions to prefer", metavar="CODE")] = "en",
    videos: Annotated[
        Path | None, Arg("folder of a release's videos (default: beside it)", metavar="DIR", remote=True)
    ] = None,
    captions: Annotated[
        Path | None, Arg("captions, if not beside the videos: a folder, or a caption.json", metavar="PATH", remote=True)
    ] = None,
    category: Annotated[str | None, Arg("only this category of a HowTo100M index", metavar="NAME")] = None,
    part: Annotated[
        str | None, Arg("only this part of the videos, e.g. 3/16; mmcc merge joins the parts", metavar="K/N")
    ] = None,
    workers: Annotated[int | None, Arg("files to decode at once (default: one per core)", metavar="N", least=1)] = None,
    engine: EngineName = "local",
    address: Address = None,
    time_limit: Annotated[float, Arg("seconds a file may take", metavar="SECONDS", above=0)] = 7200,
    memory_limit: Annotated[float, Arg("GB of memory a file may take", metavar="GB", least=1)] = 4,
    max_hours: Annotated[float, Arg("longest video", metavar="HOURS", above=0)] = 12,
    max_pixels: Annotated[int, Arg("largest frame, width times height", metavar="N", least=1)] = 8192 * 4320,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
    verbose: Annotated[
        bool, Arg("say which captions were chosen and why, and whether decoders are confined", short="-v")
    ] = False,
) -> int:
    """Turn narrated video on disk into a corpus.

    Stop it at any time and run it again: it resumes where it stopped. Videos and captions may be in a bucket (s3://…).

    examples:
      mmcc ingest ~/Videos/cooking -o cooking.corpus
      mmcc ingest ~/Videos/cooking -o cooking.corpus --encode efficientnet-lite2
      mmcc ingest crosstask_release -o crosstask.corpus --videos /data/crosstask/videos
      mmcc ingest ~/Videos/cooking -o part3.corpus --part 3/16
      mmcc ingest HowTo100M_v1.csv -o recipes.corpus --category Recipes --videos /data/howto --captions caption.json
    """
    from mmcc.corpus.find import find_source
    from mmcc.corpus.ingest import IngestSettings
    from mmcc.corpus.ingest import ingest as run_ingest
    from mmcc.corpus.part import SourcePart
    from mmcc.corpus.publishing import staged
    from mmcc.corpus.summary import render_ingest
    from mmcc.media.sandbox import Limits
    from mmcc.media.speech import require_speech
    from mmcc.media.video import Sampling
    from mmcc.progress import bar, file_progress

    require_engine(engine, address)
    chosen = SourcePart.parse(part) if part is not None else None
    if features is not None and fps is not None:
        raise UsageError("--fps cannot be combined with --features: features keep the rate they were extracted at.")
    if transcribe:
        if features is not None:
            raise UsageError("--transcribe cannot be combined with --features: features have no sound.")
        require_speech()
        if not language.lower().startswith("en"):
            raise UsageError(f"--transcribe supports English only, not --language {language}.")
    if encode is not None:
        if features is not None:
            raise UsageError("--encode cannot be combined with --features: features are encoded already.")
        if engine == "ray":
            refuse_remote(output, "--encode")
        from mmcc.data.embed import size_read_by  # here, since it loads torch

        size = size or size_read_by(encode)
    source = find_source(
        src, videos=videos, captions=captions, category=category, features=features is not None, language=language
    )
    shown = chosen.select(source) if chosen else source
    note(*shown.summary, *(source.choices if verbose else []))
    settings = IngestSettings(
        Sampling(fps or 1.0, size or _SIZE, fit, exact, max_pixels, max_hours * 3600),
        feature_rate=features,
        encoding=encoding,
        transcribe=transcribe,
        language=language,
        limits=Limits(seconds=time_limit, memory=int(memory_limit * (1 << 30)), adjustable=True),
        part=chosen,
    )
    embedded = []
    with opened(engine, address, workers) as where:
        settings = replace(settings, engine=where)
        if encode is None or where.elsewhere:
            with staged(output, note) as stage, file_progress("ingest") as progress:
                report = run_ingest(
                    source, stage.folder, settings, progress, published=stage.published, skip_numbers=stage.skip_numbers
                )
            if encode is not None and report.ingested:  # not alongside, which would be in this process
                embedded = _embed(output, encode, where)
        else:
            from mmcc.data.embed import TEXT_ENCODER, embedding_alongside

            alongside = embedding_alongside(output, frames=[encode], text=[TEXT_ENCODER])
            with file_progress("ingest and embed") as progress, alongside as embedding, staged(output, note) as stage:
                report = run_ingest(
                    source, stage.folder, settings, progress, embedding, stage.published, stage.skip_numbers
                )
                embedding.wait()  # before the frames leave for a bucket
            embedded = embedding.finish(bar) if report.ingested else []
    content, text = report.to_json(), render_ingest(report, output)
    if encode is not None:
        from mmcc.data.embed import render_embedding

        content |= {"embedded": [each.to_json() for each in embedded]}
        text = "\n".join([text, *render_embedding(embedded, output)])
    if verbose and report.unconfined:
        note(f"The decoders ran unconfined: {report.unconfined}. They could have written files or used the network.")
    code = answer(content, text, as_json=json)
    if chosen and not shown.items:  # of few videos some parts have none, which is no fault of the input
        return code
    if not report.ingested and not report.segments:  # annotations alone are a success too
        return EXIT_BAD_INPUT
    return EXIT_SKIPPED if report.skipped else code


def _embed(corpus: Path, encoder: str, where: Engine) -> list[EmbedReport]:
    from mmcc.corpus import Corpus
    from mmcc.data.embed import TEXT_ENCODER, embed
    from mmcc.progress import bar

    return embed(Corpus.open(corpus), frames=[encoder], text=[TEXT_ENCODER], bars=bar, engine=where)
