"""`mmcc anticipate`: what comes next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.models import MODEL
from mmcc.cli.output import answer, wrote
from mmcc.errors import UsageError
from mmcc.text import parse_clock


def anticipate(
    run: Annotated[str, MODEL],
    clip: Annotated[str, Arg("a video file, a photo, or CORPUS:VIDEO-ID")],
    /,
    *,
    steps: Annotated[Path | None, Arg("candidate steps, one per line; - reads them from stdin", metavar="FILE")] = None,
    task: Annotated[str | None, Arg("use the steps of this how-to task, by its title or id", metavar="NAME")] = None,
    crosstask: Annotated[
        Path | None,
        Arg("the CrossTask release or corpus with that task (default: CLIP's corpus)", metavar="FOLDER"),
    ] = None,
    start: Annotated[
        str | None, Arg("where the clip begins, as 1:23 (default: 20 s before its end)", short="--from", metavar="TIME")
    ] = None,
    end: Annotated[
        str | None, Arg("where the clip ends (default: the video's end)", short="--to", metavar="TIME")
    ] = None,
    top: Annotated[int | None, Arg("how many steps to show (default: all)", metavar="N", least=1)] = None,
    plot: Annotated[
        Path | None,
        Arg("draw how well calibrated the probabilities are on held-out videos", metavar="PICTURE", endings=PICTURES),
    ] = None,
    json: Annotated[bool, Arg("print it as JSON")] = False,
) -> int:
    """Rank steps by how probable it is that they come after a clip, with "none of these".

    examples:
      mmcc anticipate kitchen soup.mp4 --steps steps.txt
      printf 'serve the soup\nchop the onion\n' | mmcc anticipate kitchen soup.mp4 --steps -
      mmcc anticipate kitchen soup.mp4 --from 0:10 --to 0:25 --task "Make Pancakes" --crosstask crosstask_release
      mmcc anticipate runs/mine kitchen.corpus:k0007 --task "Make Pancakes" --plot reliability.png
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.anticipate import render
    from mmcc.report.reliability import draw_reliability
    from mmcc.tools.anticipate import anticipate as find_steps
    from mmcc.tools.anticipate import open_clip, read_steps, steps_of_task
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model

    if (steps is None) == (task is None):
        raise UsageError("list the candidate steps: use --steps FILE or --task NAME.")
    try:
        begins, ends = (None if time is None else parse_clock(time) for time in (start, end))
    except ValueError as error:
        raise UsageError(str(error)) from None
    asked = read_steps(steps) if steps else steps_of_task(task or "", crosstask, clip)
    model, cache = open_model(run, progress=bar("embed")), Cache.default()
    with file_progress("read") as progress:
        seen = open_clip(model, clip, cache, start=begins, end=ends, progress=progress)
    found = find_steps(model, seen, asked, cache, bar("calibrate"))
    code = answer(found.to_json(top), render(found, top), as_json=json, warnings=found.warnings, skipped=found.skipped)
    if plot:
        note = "The clip asked about is unlike these videos: this does not hold for it."
        title = f"{run}: reliability of the probabilities"
        draw_reliability(plot, title, found.calibration, note if seen.strange else "")
        wrote("plot", plot)
    return code
