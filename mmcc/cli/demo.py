"""`mmcc demo`: from nothing to a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.output import answer
from mmcc.terminal import note


def demo(
    *,
    output: Annotated[Path, Arg("output folder (created, or resumed)", short="-o", metavar="DIR")] = Path("demo"),
    fresh: Annotated[bool, Arg("start over instead of resuming")] = False,
    json: Annotated[bool, Arg("print results.json")] = False,
) -> int:
    """Generate a small synthetic data set, train on it, evaluate, and write a report: about 7 minutes on 2 cores.

    Stop it at any time and run it again: it resumes where it stopped.

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
    code = answer(results, demo_table(results), as_json=json, indent=1)
    note(f"See {output / 'report.html'}, and the tools' sheets in {output / 'tools'}.")
    return code
