"""The command line: verbs over typed signatures, exit codes, and errors in one line. No logic of its own."""

from __future__ import annotations

import dataclasses
import json as json_module
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from mmcc import __version__
from mmcc.arguments import Arg, Overrides, UsageError, build_parser, call
from mmcc.media.errors import InputError, MissingDependency, OutputError
from mmcc.media.names import one_line

EXIT_OK, EXIT_BUG, EXIT_USAGE, EXIT_BAD_INPUT, EXIT_SKIPPED, EXIT_MISSING_DEPENDENCY = range(6)
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143
_GO_ON = "What was finished is saved; run the same command again to go on (train: with --resume)."


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


def inspect(
    corpus: Annotated[Path, Arg("a corpus folder")],
    /,
    *,
    json: Annotated[bool, Arg("print it as JSON")] = False,
    sheet: Annotated[
        Path | None, Arg("draw a contact sheet: a few videos, their utterances under the frames", metavar="PNG")
    ] = None,
) -> int:
    """Show what a corpus holds: counts, coverage, and what is missing or could not be read.

    example:
      mmcc inspect cooking.corpus --sheet cooking.png
    """
    from mmcc.corpus import Corpus
    from mmcc.corpus.sheet import draw_sheet
    from mmcc.corpus.summary import render_summary, summarise
    from mmcc.progress import bar

    opened = Corpus.open(corpus)
    summary = summarise(opened, bar("inspect"))
    print(json_module.dumps(dataclasses.asdict(summary), ensure_ascii=False) if json else render_summary(summary))
    if sheet:
        draw_sheet(opened, sheet)
        print(f"contact sheet: {sheet}", file=sys.stderr)
    return EXIT_SKIPPED if summary.failed else EXIT_OK


def kitchen(
    out: Annotated[Path, Arg("the folder to write: made, or gone on with", metavar="OUT")],
    /,
    *,
    videos: Annotated[
        int | None, Arg("how many, 5 % of them of related tasks (default: 1200)", metavar="N", least=1, most=1e6)
    ] = None,
    tasks: Annotated[
        int | None, Arg("how many of the 18 primary tasks (default: 18)", metavar="N", least=1, most=18)
    ] = None,
    seed: Annotated[int, Arg("another seed, other videos", metavar="N", least=0)] = 0,
    size: Annotated[
        int | None, Arg("side of a frame, in pixels (default: 96)", metavar="PIXELS", least=32, most=1024)
    ] = None,
    fps: Annotated[float | None, Arg("frames per second (default: 2)", metavar="RATE", least=0.2, most=60)] = None,
    features: Annotated[bool, Arg("write vectors too: features/<id>.npy, one a second")] = False,
    no_pixels: Annotated[bool, Arg("write no videos, only the rest")] = False,
    timelines: Annotated[
        Path | None,
        Arg("take timelines and steps from a real CrossTask release; needs --features", metavar="RELEASE"),
    ] = None,
    bookends: Annotated[bool, Arg("begin with greetings and end with farewells")] = False,
    workers: Annotated[int | None, Arg("videos to draw at once (default: one per core)", metavar="N", least=1)] = None,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
) -> int:
    """Write a world of narrated video: small cooking videos, captions and annotations, the same on any machine.

    Stop it at any moment and run it again: it goes on where it was.

    examples:
      mmcc kitchen build/kitchen && mmcc ingest build/kitchen -o kitchen.corpus --size 96
      mmcc kitchen build/vectors --features --no-pixels && mmcc ingest build/vectors -o vectors.corpus --features 1
      mmcc kitchen build/semi-real --timelines crosstask_release --features
    """
    from mmcc.corpus.crosstask import read_crosstask
    from mmcc.kitchen.plan import KitchenSettings, plan
    from mmcc.kitchen.semi_real import plan_from
    from mmcc.kitchen.write import render_kitchen, write_kitchen
    from mmcc.progress import file_progress

    if size is not None and size % 2:
        raise UsageError(f"--size {size}: the side of a video frame must be even.")
    if no_pixels and not features:
        raise UsageError("--no-pixels needs --features: else there would be nothing to learn from.")
    given: dict[str, Any] = {"videos": videos, "tasks": tasks, "size": size, "fps": fps}
    chosen = {name: value for name, value in given.items() if value is not None}
    if timelines is None:
        settings = KitchenSettings(seed=seed, bookends=bookends, **chosen)
        planned = plan(settings)
    else:
        if not features:
            raise UsageError("--timelines needs --features: what real steps look like is not known, so none is drawn.")
        if chosen:
            raise UsageError(f"--{next(iter(chosen))} does not go with --timelines: the release says what there is.")
        release = read_crosstask(timelines)
        settings, planned = plan_from(timelines, release.tasks, release.items, seed=seed, bookends=bookends)
    with file_progress("kitchen") as progress:
        report = write_kitchen(
            out,
            planned,
            settings,
            pixels=timelines is None and not no_pixels,
            features=features,
            workers=workers or os.cpu_count() or 1,
            progress=progress,
        )
    print(json_module.dumps(report.to_json()) if json else render_kitchen(report, out))
    return EXIT_SKIPPED if report.failed else EXIT_OK


def train(
    corpus: Annotated[Path, Arg("a corpus folder")],
    /,
    *,
    output: Annotated[
        Path | None, Arg("the run: made, or with --resume gone on with", short="-o", metavar="RUN")
    ] = None,
    config: Annotated[
        str | None,
        Arg("paper, kitchen, a rival (cross_modal, ra, tap, memdpc), or a .yaml file (default: MMCC+)", metavar="NAME"),
    ] = None,
    resume: Annotated[bool, Arg("go on with a run that was stopped")] = False,
    print_config: Annotated[bool, Arg("print every setting with its value, and do nothing")] = False,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
    settings: Annotated[dict[str, str], Overrides()],
) -> int:
    """Train a model to cycle through narrated video, and so to predict what comes next.

    Any setting can be given by its dotted name, as --train.lr 1e-4. Stop it at any moment and run it again with
    --resume: it goes on where it was, to the same weights.

    examples:
      mmcc train kitchen.corpus -o runs/kitchen --config kitchen
      mmcc train kitchen.corpus -o runs/kitchen --resume
      mmcc train recipes.corpus -o runs/paper --config paper --train.batch_size 128
      torchrun --nproc-per-node 2 -m mmcc train recipes.corpus -o runs/recipes
    """
    from mmcc.training.config import load_config
    from mmcc.training.loop import render_training
    from mmcc.training.loop import train as run_training
    from mmcc.training.processes import talks
    from mmcc.training.run import CONFIG

    if resume and config is None and output is not None and (output / CONFIG).is_file():
        config = str(output / CONFIG)  # a run goes on with its own settings
    chosen = load_config(config, [f"{name}={value}" for name, value in settings.items()])
    if print_config:
        print(chosen.to_yaml(), end="")
        return EXIT_OK
    if output is None:
        raise UsageError("name the run's folder with -o RUN.")
    report = run_training(corpus, output, chosen, resume=resume)
    if talks():  # of several processes, one
        print(json_module.dumps(report.to_json()) if json else render_training(report))
    return EXIT_OK


def evaluate(
    run: Annotated[str, Arg("a run, a checkpoint's folder, or a learner by name: random, imagenet")],
    /,
    *,
    corpus: Annotated[Path, Arg("a corpus folder; its test videos are used", metavar="CORPUS")],
    tasks: Annotated[
        str | None,
        Arg("by commas: cycle, anticipation, unshuffling, arrow, transitions, transfer (default: all)", metavar="LIST"),
    ] = None,
    checkpoint: Annotated[str, Arg("of a run: best, last, or a step", metavar="WHICH")] = "best",
    on: Annotated[
        Literal["test", "validation"], Arg("which videos: those of the tests, or those that settings are chosen on")
    ] = "test",
    output: Annotated[Path | None, Arg("write the results to a file, as JSON", short="-o", metavar="FILE")] = None,
    json: Annotated[bool, Arg("print the results as JSON")] = False,
) -> int:
    """Measure what a model has learnt, on videos that it has not seen.

    Every figure comes with its 95 % interval over videos and with chance; transfer is to related tasks.

    examples:
      mmcc evaluate runs/kitchen --corpus kitchen.corpus
      mmcc evaluate runs/kitchen --corpus kitchen.corpus --tasks anticipation,unshuffling -o results.json
      mmcc evaluate random --corpus kitchen.corpus --tasks arrow
    """
    from mmcc.progress import bar
    from mmcc.reproduce.evaluate import TASKS, render_evaluation
    from mmcc.reproduce.evaluate import evaluate as run_evaluation
    from mmcc.reproduce.store import strict_json
    from mmcc.training.files import replace_text

    asked = None if tasks is None else [task.strip() for task in tasks.split(",")]
    for task in asked or []:
        if task not in TASKS:
            raise UsageError(f"--tasks {task}: there is no such task. Choose among {', '.join(TASKS)}.")
    if output and not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}.")
    which = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    found = run_evaluation(run, corpus, tasks=asked, checkpoint=which, on=on, bars=bar)
    content = strict_json(found.to_json(), indent=1)
    if output:
        replace_text(output, f"{content}\n")
    print(content if json else render_evaluation(found))
    return EXIT_SKIPPED if asked and found.skipped else EXIT_OK


def reproduce(
    table: Annotated[str, Arg("table1, table2, table3, table4, transfer, ablation, or all")],
    /,
    *,
    corpus: Annotated[Path, Arg("a corpus folder with labelled steps", metavar="CORPUS")],
    output: Annotated[Path, Arg("runs, results, tables and a page: made, or gone on with", short="-o", metavar="OUT")],
    seeds: Annotated[
        int | None, Arg("training seeds (default: 3; table1 and ablation: 1)", metavar="N", least=1)
    ] = None,
    budget: Annotated[
        Literal["quick", "full"], Arg("full: 1,000 steps for each objective; quick: 60, to see that all works")
    ] = "full",
    json: Annotated[bool, Arg("print results.json")] = False,
) -> int:
    """Train the paper's models and its rivals on a corpus, and fill its tables.

    Stop it at any moment and run it again: it goes on where it was, and trains and measures nothing twice.

    examples:
      mmcc reproduce all --corpus kitchen.corpus -o build/tables
      mmcc reproduce table2 --corpus kitchen.corpus -o build/quick --budget quick --seeds 1
    """
    from mmcc.progress import bar
    from mmcc.reproduce.plan import BUDGETS, TABLES
    from mmcc.reproduce.reproduce import ALL
    from mmcc.reproduce.reproduce import reproduce as run_reproduction
    from mmcc.reproduce.store import strict_json

    if table not in (*TABLES, ALL):
        raise UsageError(f"there is no {table}. Choose one of {', '.join((*TABLES, ALL))}.")
    found = run_reproduction([table], corpus, output, budget=BUDGETS[budget], seeds=seeds, bars=bar)
    print(strict_json(found.content, indent=1) if json else found.to_markdown())
    return EXIT_SKIPPED if found.notes else EXIT_OK


VERBS = (kitchen, ingest, inspect, train, evaluate, reproduce)


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; turn what goes wrong into a line for people and an exit code for scripts."""
    parser = build_parser("mmcc", "Learn how the world changes from narrated video.", __version__, VERBS)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return call(parser, arguments)
    except UsageError as error:
        _complain(str(error))
        return EXIT_USAGE
    except InputError as error:
        _complain(f"{error.path}: {error.cause}", error.remedy)
        return EXIT_BAD_INPUT
    except OutputError as error:
        _complain(str(error), "What was finished is saved. Free some space, and run the same command again.")
        return EXIT_BAD_INPUT
    except MissingDependency as error:
        _complain(*str(error).split("\n", 1))
        return EXIT_MISSING_DEPENDENCY
    except KeyboardInterrupt:
        _complain(f"stopped. {_GO_ON}")
        return EXIT_INTERRUPTED
    except _Terminated:
        _complain(f"terminated. {_GO_ON}")
        return EXIT_TERMINATED
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except OSError as error:
        _complain(f"{error.filename or 'the system'}: {error.strerror or error}", "Check its permissions and its disk.")
        return EXIT_BAD_INPUT
    except Exception:
        traceback.print_exc()
        _complain("this is a bug in mmcc.", "Please report it with the lines above.")
        return EXIT_BUG


class _Terminated(BaseException):
    """SIGTERM, made an exception so that what is open gets closed."""


def _terminate(*_: object) -> NoReturn:
    raise _Terminated


def _complain(line: str, remedy: str = "") -> None:
    print(f"mmcc: {one_line(line)}" + (f"\n      {one_line(remedy)}" if remedy else ""), file=sys.stderr)
