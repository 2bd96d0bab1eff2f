"""demo/results.json: what the demo measured, and the table printed from it.

    {"schema": 1, "seconds": {stage: s},
     "anticipation": {model: {"recall@1", "recall@5", "recall@10", "percentile_mean", "dyn"}},
     "unshuffling": {model: {"kendall_tau"}},
     "cycle": {model: {"percentile_rank", "exact_return", "forward_share"}}}

Models are mmcc+, cross_modal, chance, and oracle, which knows the task and the step of every clip; for dyn, of every
clip so far. All figures but τ are in percent. A figure that a model does not have is null: cross_modal has no cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mmcc.report.measured import Evaluation
from mmcc.report.tables import Cell, Column, Row, Table, to_markdown
from mmcc.reproduce import plan
from mmcc.reproduce.tables_rows import LABELS

SCHEMA = 1
MMCC_PLUS, CROSS_MODAL, CHANCE, ORACLE = "mmcc+", "cross_modal", "chance", "oracle"
# Part of the results → its figures: name here → name in an evaluation.
PARTS: dict[str, dict[str, str]] = {
    "anticipation": {name: name for name in ("recall@1", "recall@5", "recall@10", "percentile_mean", "dyn")},
    "unshuffling": {"kendall_tau": "kendall_tau"},
    "cycle": {"percentile_rank": "cycle_rank", "exact_return": "exact_return", "forward_share": "goes_forward"},
}
_HEADS = {
    "recall@1": Column("R@1"),
    "recall@5": Column("R@5"),
    "recall@10": Column("R@10"),
    "percentile_mean": Column("mean rank"),
    "dyn": Column("dyn"),
    "kendall_tau": Column("order τ", 2),
    "percentile_rank": Column("cycle rank"),
    "exact_return": Column("returns"),
    "forward_share": Column("forward"),
}
_NAMES = {
    MMCC_PLUS: LABELS[plan.PLUS],
    CROSS_MODAL: LABELS[plan.CROSS_MODAL].lower(),
    CHANCE: LABELS[plan.CHANCE].lower(),
    ORACLE: "oracle",
}


def demo_results(evaluations: Mapping[str, Evaluation], seconds: Mapping[str, float]) -> dict[str, Any]:
    """From the evaluations of MMCC+ and of its baseline."""
    content: dict[str, Any] = {"schema": SCHEMA, "seconds": {stage: round(s, 1) for stage, s in seconds.items()}}
    for part, figures in PARTS.items():
        results = {name: found["tasks"].get(part) for name, found in evaluations.items()}
        references = results[MMCC_PLUS]["references"]
        of_part: dict[str, dict[str, float | None]] = {
            name: {here: _mean(result, there) for here, there in figures.items()} for name, result in results.items()
        }
        of_part[CHANCE] = {here: references.get(f"chance/{there}") for here, there in figures.items()}
        # Even with every step known, two clips of the same step can only be guessed; a perfect cycle always returns.
        known = {
            here: references.get(f"done_known/{there}", references.get(f"step_known/{there}"))
            for here, there in figures.items()
        }
        of_part[ORACLE] = dict.fromkeys(figures, 100.0) if part == "cycle" else known
        content[part] = of_part
    return content


def demo_table(results: Mapping[str, Any]) -> str:
    """A row per model."""
    columns = tuple(_HEADS[figure] for part in PARTS.values() for figure in part)
    rows = []
    for name, label in _NAMES.items():
        values = [results[part].get(name, {}).get(figure) for part, figures in PARTS.items() for figure in figures]
        cells = tuple(Cell(value) for value in values)
        rows.append(Row((label,), cells, competes=name in (MMCC_PLUS, CROSS_MODAL)))
    return to_markdown(Table("demo", ("",), columns, tuple(rows)))


def share_of_the_way(results: Mapping[str, Any], figure: str) -> float:
    """How far MMCC+ gets in anticipation from chance to the oracle, in percent."""
    part = results["anticipation"]
    reached, least, most = (part[name][figure] for name in (MMCC_PLUS, CHANCE, ORACLE))
    return float(100 * (reached - least) / (most - least))


def _mean(result: Mapping[str, Any] | None, figure: str) -> float | None:
    found = result["figures"].get(figure) if result else None
    return found.get("mean") if found else None
