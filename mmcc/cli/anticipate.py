"""`mmcc anticipate`: what comes next."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.errors import UsageError
from mmcc.text import one_line


def anticipate(
    run: Annotated[str, Arg("a run, a checkpoint, or a model that comes with mmcc: kitchen")],
    clip: Annotated[str, Arg("a video file, a photo, or CORPUS:VIDEO-ID")],
    /,
    *,
    steps: Annotated[Path | None, Arg("what may come, a step a line", metavar="FILE")] = None,
    task: Annotated[str | None, Arg("or the steps of a task, by its title or id", metavar="NAME")] = None,
    crosstask: Annotated[
        Path | None,
        Arg("where the task is: a CrossTask release or a corpus (default: CLIP's corpus)", metavar="FOLDER"),
    ] = None,
    start: Annotated[
        str | None, Arg("where the clip begins, as 1:23 (default: 20 s before its end)", short="--from", metavar="TIME")
    ] = None,
    end: Annotated[
        str | None, Arg("where the clip ends (default: the video's end)", short="--to", metavar="TIME")
    ] = None,
    top: Annotated[int | None, Arg("how many steps to show (default: all)", metavar="N", least=1)] = None,
    plot: Annotated[
        Path | None, Arg("draw how reliable the probabilities were on held-out videos", metavar="PNG")
    ] = None,
    json: Annotated[bool, Arg("print it as JSON")] = False,
) -> int:
    """Rank steps by how probable it is that they are yet to come after a clip, with "none of these".

    examples:
      mmcc anticipate kitchen soup.mp4 --steps steps.txt
      mmcc anticipate kitchen soup.mp4 --from 0:10 --to 0:25 --task "Make Pancakes" --crosstask crosstask_release
      mmcc anticipate runs/mine kitchen.corpus:k0007 --task "Make Pancakes" --plot reliability.png
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.reliability import draw_reliability
    from mmcc.report.sheets import parse_clock
    from mmcc.tools.anticipate import anticipate as find_steps
    from mmcc.tools.anticipate import open_clip, read_steps, render, steps_of_task
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model

    if (steps is None) == (task is None):
        raise UsageError("name what may come: either --steps FILE or --task NAME.")
    try:
        begins, ends = (None if time is None else parse_clock(time) for time in (start, end))
    except ValueError as error:
        raise UsageError(str(error)) from None
    asked = read_steps(steps) if steps else steps_of_task(task or "", crosstask, clip)
    model, cache = open_model(run), Cache.default()
    with file_progress("read") as progress:
        seen = open_clip(model, clip, cache, start=begins, end=ends, progress=progress)
    found = find_steps(model, seen, asked, cache, bar("calibrate"))
    print(json_module.dumps(found.to_json(top), ensure_ascii=False) if json else render(found, top))
    for line in [*found.warnings, *(f"skipped {each.path}: {each.reason}" for each in found.skipped)]:
        print(one_line(line), file=sys.stderr)
    if plot:
        draw_reliability(plot, f"{run}: reliability of what is yet to come", found.calibration)
        print(f"plot: {one_line(plot)}", file=sys.stderr)
    return EXIT_SKIPPED if found.skipped else EXIT_OK
