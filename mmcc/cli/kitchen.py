"""`mmcc kitchen`: the bundled world of narrated video."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from mmcc.cli.arguments import Arg
from mmcc.cli.engines import Address, EngineName, opened, require_engine
from mmcc.cli.exit_codes import EXIT_SKIPPED
from mmcc.cli.output import answer
from mmcc.errors import UsageError


def kitchen(
    out: Annotated[Path, Arg("output folder (created, or resumed)", metavar="OUT")],
    /,
    *,
    videos: Annotated[
        int | None,
        Arg("how many videos, 5 % of them of related recipes (default: 1200)", metavar="N", least=1, most=1e6),
    ] = None,
    recipes: Annotated[
        int | None, Arg("how many of the 18 primary recipes (default: 18)", metavar="N", least=1, most=18)
    ] = None,
    seed: Annotated[int, Arg("random seed: another one gives other videos", metavar="N", least=0)] = 0,
    size: Annotated[
        int | None, Arg("side of a frame, in pixels (default: 96)", metavar="PIXELS", least=32, most=1024)
    ] = None,
    fps: Annotated[float | None, Arg("frames per second (default: 2)", metavar="RATE", least=0.2, most=60)] = None,
    features: Annotated[bool, Arg("also write feature vectors: features/<id>.npy, one per second")] = False,
    no_pixels: Annotated[bool, Arg("write everything but the videos")] = False,
    timelines: Annotated[
        Path | None,
        Arg("take timelines and steps from a real CrossTask release; needs --features", metavar="RELEASE"),
    ] = None,
    bookends: Annotated[bool, Arg("begin videos with greetings and end them with farewells")] = False,
    workers: Annotated[int | None, Arg("videos to draw at once (default: one per core)", metavar="N", least=1)] = None,
    engine: EngineName = "local",
    address: Address = None,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
) -> int:
    """Write a world of narrated video: small cooking videos, captions and annotations, the same on any machine.

    Stop it at any time and run it again: it resumes where it stopped.

    examples:
      mmcc kitchen build/kitchen && mmcc ingest build/kitchen -o kitchen.corpus --size 48
      mmcc kitchen build/vectors --features --no-pixels && mmcc ingest build/vectors -o vectors.corpus --features 1
      mmcc kitchen build/semi-real --timelines crosstask_release --features
    """
    from mmcc.corpus.crosstask import read_crosstask
    from mmcc.kitchen.plan import KitchenSettings, plan
    from mmcc.kitchen.semi_real import plan_from
    from mmcc.kitchen.write import render_kitchen, write_kitchen
    from mmcc.progress import file_progress

    require_engine(engine, address)
    if size is not None and size % 2:
        raise UsageError(f"--size {size}: the side of a video frame must be even.")
    if no_pixels and not features:
        raise UsageError("--no-pixels needs --features: otherwise there is nothing to train on.")
    given: dict[str, Any] = {"videos": videos, "recipes": recipes, "size": size, "fps": fps}
    chosen = {name: value for name, value in given.items() if value is not None}
    if timelines is None:
        if recipes is not None:
            chosen["tasks"] = chosen.pop("recipes")  # as kitchen.json calls them
        settings = KitchenSettings(seed=seed, bookends=bookends, **chosen)
        planned = plan(settings)
    else:
        if not features:
            raise UsageError("--timelines needs --features: real steps cannot be drawn.")
        if chosen:
            raise UsageError(f"--{next(iter(chosen))} cannot be combined with --timelines: the release determines it.")
        release = read_crosstask(timelines)
        settings, planned = plan_from(timelines, release.tasks, release.items, seed=seed, bookends=bookends)
    with opened(engine, address, workers) as where, file_progress("kitchen") as progress:
        report = write_kitchen(
            out,
            planned,
            settings,
            pixels=timelines is None and not no_pixels,
            features=features,
            engine=where,
            progress=progress,
        )
    code = answer(report.to_json(), render_kitchen(report, out), as_json=json)
    return EXIT_SKIPPED if report.failed else code
