"""What each part of MMCC+ contributes, and whether its controls do as well."""

from __future__ import annotations

from dataclasses import dataclass, field

from mmcc.report.tables import Column, Row, Table
from mmcc.reproduce import plan
from mmcc.reproduce.findings import Findings, Measure
from mmcc.reproduce.tables_rows import LABELS, FigureColumn, difference_cell, differences_note, intervals_note

TITLE = "Ablation: what each part of MMCC+ contributes"
_COLUMNS = (
    (plan.ANTICIPATION, FigureColumn("recall@1", "R@1")),
    (plan.ANTICIPATION, FigureColumn("recall@5", "R@5")),
    (plan.ANTICIPATION, FigureColumn("percentile_mean", "mean rank")),
    (plan.ANTICIPATION, FigureColumn("dyn", "dyn")),
    (plan.UNSHUFFLING, FigureColumn("kendall_tau", "τ", 3)),
    (plan.UNSHUFFLING, FigureColumn("kendall_tau/all_pairs", "τ, all pairs", 3)),
    (plan.CYCLE, FigureColumn("travelled_rank", "cycle rank, loops as 50")),
    (plan.CYCLE, FigureColumn("future_rank", "future rank")),
)


@dataclass(frozen=True)
class Variant:
    """A row: a run, or a control of MMCC+, which has evaluation tasks of its own."""

    group: str
    label: str
    run: str = plan.PLUS
    instead: dict[str, str] = field(default_factory=dict)  # task → the control's

    def measure(self, task: str, figure: str) -> Measure:
        if not self.instead:
            return self.run, task, figure
        one_order = self.instead.get(task) == plan.POSITION_UNSHUFFLING  # neither a path nor pairs: the same for both
        return self.run, self.instead.get(task, ""), figure.split("/")[0] if one_order else figure


_VARIANTS = (
    Variant("Losses", f"the paper's settings ({LABELS[plan.MMCC]})", plan.MMCC),
    Variant("Losses", "cycle, S = 1", plan.CYCLE_1),
    Variant("Losses", "cycle, S = 8", plan.CYCLE_8),
    Variant("Losses", "direction", plan.DIRECTION_ONLY),
    Variant("Losses", "both, and the similarity loss", plan.PLUS_SIMILARITY),
    Variant("Losses", f"both ({LABELS[plan.PLUS]})"),
    Variant("Direction", "without leads", plan.PLUS_NO_LEADS),
    Variant("Direction", "without arrives", plan.PLUS_NO_ARRIVES),
    Variant("Direction", "without contrast", plan.PLUS_NO_CONTRAST),
    Variant("Direction", f"all three ({LABELS[plan.PLUS]})"),
    Variant("Baselines", LABELS[plan.RA], plan.RA),
    Variant("Baselines", f"{LABELS[plan.RA]}, cross-modal targets too", plan.RA_ACROSS),
    Variant("Baselines", LABELS[plan.TAP], plan.TAP),
    Variant("Baselines", f"{LABELS[plan.TAP]}, cross-modal targets too", plan.TAP_ACROSS),
    Variant(
        "Controls",
        "g fed the mean embedding of the last 64 s",
        instead={plan.ANTICIPATION: plan.PAST_ANTICIPATION, plan.UNSHUFFLING: plan.PAST_UNSHUFFLING},
    ),
    Variant(
        "Controls",
        "ordered by a regressor of relative position",
        instead={plan.UNSHUFFLING: plan.POSITION_UNSHUFFLING},
    ),
)


def ablation(findings: Findings) -> list[Table]:
    """The variants, and MMCC+ minus each of them."""
    rows, gains = [], []
    shown = ""
    for variant in _VARIANTS:
        measures = [variant.measure(task, figure.name) for task, figure in _COLUMNS]
        cells = tuple(findings.cell(*measure) for measure in measures)
        new = variant.group != shown
        shown = variant.group
        rows.append(Row((shown if new else "", variant.label), cells, competes=not variant.instead, rule=new))
        if variant.run != plan.PLUS or variant.instead:
            differences = tuple(
                difference_cell(findings, (plan.PLUS, task, figure.name), measure, figure.digits)
                for (task, figure), measure in zip(_COLUMNS, measures, strict=True)
            )
            gains.append(Row((variant.label,), differences, competes=False))
    notes = (intervals_note(findings), 'Controls are of MMCC+: is it dynamics, or only "looks late"?')
    columns = tuple(Column(each.head, each.digits, each.better) for _, each in _COLUMNS)
    plain = tuple(Column(each.head, each.digits, 0) for _, each in _COLUMNS)
    return [
        Table(TITLE, ("", "variant"), columns, tuple(rows), notes),
        Table(f"{TITLE}: MMCC+ minus the others", ("MMCC+ minus",), plain, tuple(gains), (differences_note(findings),)),
    ]
