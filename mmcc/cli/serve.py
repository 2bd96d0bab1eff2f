"""`mmcc serve`: a local page that shows what a model believes about videos."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK
from mmcc.cli.models import MODEL
from mmcc.errors import MissingDependency, UsageError
from mmcc.terminal import note, show
from mmcc.text import counted

_NEEDED = ("fastapi", "uvicorn", "python_multipart")


def serve(
    run: Annotated[str, MODEL],
    library: Annotated[
        Path, Arg("a corpus, a folder of videos, or a video file", metavar="CORPUS_OR_FOLDER", remote=True)
    ],
    /,
    *,
    against: Annotated[str | None, Arg("a second model, to compare with the first", metavar="RUN")] = None,
    port: Annotated[int, Arg("0: any that is free", metavar="N", least=0, most=65535)] = 8765,
    host: Annotated[
        str, Arg("the address to listen at; others than this machine's own need the token", metavar="ADDRESS")
    ] = "127.0.0.1",
    token: Annotated[
        str | None, Arg("what a browser must know (default: none here, a random one for others)", metavar="TEXT")
    ] = None,
    open: Annotated[bool, Arg("open the page in the browser")] = False,
) -> int:
    """Browse videos as a model sees them, in a page on this machine.

    A folder of videos is read first. What is computed is cached; nothing is sent anywhere. Stop it with Ctrl-C.

    examples:
      mmcc serve kitchen kitchen.corpus --open
      mmcc serve runs/mine ~/Videos/cooking --against kitchen
      mmcc serve cook cooking.corpus --host 0.0.0.0
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise MissingDependency(f"serve needs {', '.join(missing)}.", "app")
    if token is not None and not (8 <= len(token) <= 200 and token.isascii() and token.isprintable()):
        raise UsageError("--token: give 8 to 200 plain letters and digits.")
    import webbrowser

    from mmcc.app.server import open_explorer
    from mmcc.app.server import run as run_server
    from mmcc.progress import file_progress

    with file_progress("read") as progress:
        explorer = open_explorer(run, library, against=against, progress=progress)
    found = explorer.library
    note(*found.notes, *(f"skipped {each.path}: {each.reason}" for each in found.skipped))

    def ready(address: str) -> None:
        show(address)
        note(f"{counted(len(found), 'video')} of {found.name}, as {run} sees them; Ctrl-C stops the server")
        if open:
            webbrowser.open(address)

    run_server(explorer, host=host, port=port, token=token, ready=ready)
    return EXIT_OK
