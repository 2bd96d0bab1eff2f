"""`mmcc unshuffle`: photos, or a video's clips, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.models import MODEL
from mmcc.cli.output import answer, wrote


def unshuffle(
    run: Annotated[str, MODEL],
    images: Annotated[
        list[Path], Arg("photos, folders of photos, videos, or a video of a corpus as CORPUS:ID", remote=True)
    ],
    /,
    *,
    by: Annotated[
        Literal["pairs", "path"],
        Arg("choose the order by which of every two comes first, or by the step from each to the next"),
    ] = "pairs",
    clips: Annotated[
        int, Arg("how many equal clips to cut a video into if none are labelled", metavar="N", least=2, most=1000)
    ] = 8,
    texts: Annotated[
        Path | None,
        Arg("descriptions of the photos: a line for each, as given, or by name in a folder", metavar="FILE"),
    ] = None,
    sheet: Annotated[
        Path | None, Arg("draw the order, with the probability of each link", metavar="PICTURE", endings=PICTURES)
    ] = None,
    copy_to: Annotated[Path | None, Arg("write numbered copies of the photos to a new folder", metavar="DIR")] = None,
    json: Annotated[bool, Arg("print it as JSON")] = False,
) -> int:
    """Put photos, or the clips of a video, in the order in which things happened.

    Photos named one by one are one set; each folder and each video is a set of its own. Reads JPEG, PNG and WebP,
    and HEIC with the package pillow-heif.

    examples:
      mmcc unshuffle kitchen ~/Pictures/noodles --sheet noodles.png
      mmcc unshuffle kitchen a.jpg b.jpg c.jpg --copy-to ordered
      mmcc unshuffle runs/mine ~/Pictures/noodles --texts steps.txt
      mmcc unshuffle runs/kitchen kitchen.corpus:VIDEO-ID --by path --json
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.unshuffle import check_place, copy_numbered, draw, render
    from mmcc.tools.cache import Cache
    from mmcc.tools.described import TEXTS, read_descriptions
    from mmcc.tools.model import open_model
    from mmcc.tools.unshuffle import unshuffle as put_in_order

    if copy_to:
        check_place(copy_to)
    with file_progress("read") as begin:
        outcome = put_in_order(
            open_model(run, progress=bar("embed")),
            images,
            Cache.default(),
            by=by,
            clips=clips,
            texts=read_descriptions(texts) if texts else None,
            texts_from=texts or TEXTS,
            begin=begin,
            progress=bar("photos"),
        )
    code = answer(outcome.to_json(), render(outcome), as_json=json, warnings=outcome.warnings, skipped=outcome.skipped)
    if copy_to:
        wrote(f"{copy_numbered(outcome, copy_to)} copies", copy_to)
    if sheet:
        draw(outcome, sheet)
        wrote("sheet", sheet)
    return code
