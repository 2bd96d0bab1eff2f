"""`mmcc demo`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK


def demo(
    *,
    output: Annotated[Path, Arg("the folder for all of it: made, or gone on with", short="-o", metavar="DIR")] = Path(
        "demo"
    ),
    fresh: Annotated[bool, Arg("start over, in place of going on with what is there")] = False,
    json: Annotated[bool, Arg("print results.json")] = False,
) -> int:
    """Draw a small world of narrated video, train on it, measure, and write a report: eight minutes on two cores.

    Stop it at any moment and run it again: it goes on where it was.

    example:
      mmcc demo -o demo
    """
    from mmcc.cli.cycles import cycles
    from mmcc.cli.transitions import transitions
    from mmcc.cli.unshuffle import unshuffle
    from mmcc.demo.demo import Demo, DemoSettings, Tool, start_over
    from mmcc.demo.results import demo_table
    from mmcc.training.bar import say

    if fresh:
        start_over(output)
    tools: dict[str, Tool] = {"transitions": transitions, "cycles": cycles, "unshuffle": unshuffle}
    results = Demo(output, DemoSettings(), say, tools).run()
    print((output / "results.json").read_text(encoding="utf-8") if json else demo_table(results))
    print(f"\nLook at {output / 'report.html'}, and at what the tools drew in {output / 'tools'}.", file=sys.stderr)
    return EXIT_OK
