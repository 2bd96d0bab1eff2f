"""`mmcc demo`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from mmcc.arguments import Arg
from mmcc.exit_codes import EXIT_OK


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
    from mmcc.showcase.demo import Demo, DemoSettings, Tool, start_over
    from mmcc.showcase.demo_results import demo_table
    from mmcc.training.bar import say
    from mmcc.verbs.cycles import cycles
    from mmcc.verbs.transitions import transitions
    from mmcc.verbs.unshuffle import unshuffle

    if fresh:
        start_over(output)
    tools: dict[str, Tool] = {"transitions": transitions, "cycles": cycles, "unshuffle": unshuffle}
    results = Demo(output, DemoSettings(), say, tools).run()
    print((output / "results.json").read_text(encoding="utf-8") if json else demo_table(results))
    print(f"\nLook at {output / 'report.html'}, and at what the tools drew in {output / 'tools'}.", file=sys.stderr)
    return EXIT_OK
