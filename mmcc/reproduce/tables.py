"""The paper's Tables 1 to 3 and transfer: our figures with intervals, the paper's beside them, references above."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmcc.report.evaluation import reference
from mmcc.report.tables import Cell, Row, Table
from mmcc.reproduce import plan, tables_paper
from mmcc.reproduce.findings import Findings
from mmcc.reproduce.studies import scale, tuning
from mmcc.reproduce.studies_ablation import ablation
from mmcc.reproduce.tables_arrow import table4
from mmcc.reproduce.tables_rows import (
    LABELS,
    PAPER,
    FigureColumn,
    ahead,
    beside,
    cells_of,
    columns_of,
    intervals_note,
    measured,
    notes_of,
    reference_rows,
)

_MEMDPC = "MemDPC: ours is trained on the same frames as the others; the paper evaluated the authors' trained model."
_SO_FAR = "and all it has seen so far"
_DYN = "dyn: how often a step ranks higher from a clip before it than from one after it, in the same video."

ANTICIPATION = (
    FigureColumn("recall@1", "R@1"),
    FigureColumn("recall@5", "R@5"),
    FigureColumn("recall@10", "R@10"),
    FigureColumn("percentile_worst", "rank, worst"),
    FigureColumn("percentile_mean", "mean"),
    FigureColumn("percentile_best", "best"),
    FigureColumn("dyn", "dyn", in_paper=False),
)
QUERIES = (
    FigureColumn("recall@1", "R@1"),
    FigureColumn("recall@5", "R@5"),
    FigureColumn("recall@10", "R@10"),
    FigureColumn("percentile_mean", "mean rank"),
    FigureColumn("later_above_earlier", "later above earlier %"),
    FigureColumn("dyn", "dyn"),
)
UNSHUFFLING = (
    FigureColumn("kendall_tau", "Kendall's τ", 3),
    FigureColumn("spearman_rho", "Spearman's ρ", 3),
    FigureColumn("edit_distance", "edit distance", 2, -1),
)
CYCLES = (
    FigureColumn("cycle_rank", "cycle rank"),
    FigureColumn("cross_modal_rank", "cross-modal rank, segment", in_paper=False),
    FigureColumn("cross_modal_rank_batch", "batch"),
    FigureColumn("exact_return", "exact return %"),
)
MORE_CYCLES = (
    FigureColumn("travelled_rank", "rank, loops as 50"),
    FigureColumn("cycle_rank/uniform_starts", "rank, uniform starts"),
    FigureColumn("stays_in_place", "stays in place %", better=0),
)
TRANSITIONS = (
    FigureColumn("ordered_steps", "joins two steps in order %"),
    FigureColumn("joins_steps", "joins two steps %"),
    FigureColumn("ordered_of_joined", "of these in order %"),
    FigureColumn("forward", "goes forward %"),
)


def table1(findings: Findings) -> list[Table]:
    """The paper's design choices, and the loss terms of its appendix."""
    used = "(the paper's choice)"
    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
        (
            "Temporal constraint",
            (
                ("none", plan.NO_CONSTRAINT),
                ("similarity loss", plan.SIMILARITY_ONLY),
                ("max-index", plan.MAX_INDEX_ONLY),
                (f"max-index + sim. loss {used}", plan.MMCC),
            ),
        ),
        (
            "Multi-modal info.",
            (("p_unimodal = 1", plan.UNIMODAL), (f"0.5 {used}", plan.MMCC), ("0", plan.MULTIMODAL)),
        ),
        ("Start point selection", ((f"concreteness {used}", plan.MMCC), ("random", plan.RANDOM_STARTS))),
        (
            "Input embedding",
            ((f"fine-tuned {used}", plan.MMCC), ("trained by the cross-modal loss alone", plan.FROZEN)),
        ),
        ("Cycle path", ((f"within modalities {used}", plan.MMCC), ("across modalities", plan.ACROSS))),
        (
            "Loss terms",
            (
                ("λ2 = 0 after pre-training", plan.NO_LAMBDA2),
                ("λ3 = 0", plan.MAX_INDEX_ONLY),
                ("λ1 = 0", plan.NO_LAMBDA1),
            ),
        ),
        ("Our extension", (("MMCC+", plan.PLUS),)),
    )
    rows = []
    for group, variants in groups:
        for place, (label, run) in enumerate(variants):
            quoted = {} if group == "Loss terms" else tables_paper.TABLE1.get(run, {})
            cells = list(cells_of(findings, run, plan.CYCLE, CYCLES, quoted))
            if group == "Loss terms":
                cells[1] = Cell(text=tables_paper.LOSS_TERMS[run])
            if run == plan.NO_CONSTRAINT:
                cells[1] = cells[4] = Cell(text=tables_paper.COLLAPSES)
            cells += [findings.cell(run, plan.CYCLE, figure.name) for figure in MORE_CYCLES]
            labels = (group if not place else "", label)
            rows.append(Row(labels, tuple(cells), competes=run != plan.NO_CONSTRAINT, rule=not place))
    runs = list(plan.TABLES["table1"].measures)
    rows.append(Row(("", LABELS[plan.CHANCE]), _chance_of_cycles(findings, runs), competes=False, rule=True))
    frozen = (
        "Input embedding: the paper's second row has frozen cross-modal embeddings; ours are trained by that loss "
        "beside the cycle, whose gradient ends before them."
    )
    among = (
        "Cross-modal rank: among the nodes of the segment, or of a batch of 16 consecutive segments, of a few videos; "
        "the paper does not say which; its figures are beside the second."
    )
    notes = (intervals_note(findings), PAPER, among, frozen, *findings.task_notes(plan.CYCLE, runs, LABELS))
    columns = (*columns_of(CYCLES, True), *columns_of(MORE_CYCLES, False))
    return [Table("Table 1: cycle-back and cross-modal accuracy", ("choice", "variant"), columns, tuple(rows), notes)]


def _chance_of_cycles(findings: Findings, runs: Sequence[str]) -> tuple[Cell, ...]:
    known = findings.references(plan.CYCLE, runs)
    cells = [Cell(reference(known, "chance", figure.name)) for figure in (*CYCLES, *MORE_CYCLES)]
    return (*beside(cells[: len(CYCLES)], CYCLES, tables_paper.TABLE1[plan.CHANCE]), *cells[len(CYCLES) :])


def table2(findings: Findings, task: str = plan.ANTICIPATION, title: str = "Table 2: future actions") -> list[Table]:
    """Which steps come later."""
    quotes = task == plan.ANTICIPATION
    rows = reference_rows(findings, task, ANTICIPATION, tables_paper.TABLE2 if quotes else None)
    for place, run in enumerate(measured(findings, task)):
        cells = cells_of(findings, run, task, ANTICIPATION, tables_paper.TABLE2.get(run, {}) if quotes else None)
        rows.append(Row((LABELS[run],), cells, rule=not place))
        if run == plan.CROSS_MODAL:  # it recognizes the present, which is not a later step
            without = [each.variant("/current_removed") for each in ANTICIPATION]
            cells = cells_of(findings, run, task, without, {} if quotes else None)
            rows.append(Row((f"{LABELS[run]}, current step removed",), cells))
        if findings.samples(run, task, "dyn/so_far"):
            so_far = [each.variant("/so_far") for each in ANTICIPATION]
            rows.append(
                Row((f"{LABELS[run]}, {_SO_FAR}",), cells_of(findings, run, task, so_far, {} if quotes else None))
            )
    notes = notes_of(findings, task, quotes, _MEMDPC, _DYN)
    table = Table(title, ("model",), columns_of(ANTICIPATION, quotes), tuple(rows), notes)
    return [table, *ahead(findings, task, ANTICIPATION, title), *(_blind_queries(findings) if quotes else [])]


def _blind_queries(findings: Findings) -> list[Table]:
    """Every model asked with its future of the clip, and with futures that do not depend on the clip."""
    queries = {
        plan.ANTICIPATION: "the clip",
        plan.CONSTANT_ANTICIPATION: "constant query",
        plan.TASK_ANTICIPATION: "task's mean future",
    }
    if not any(measured(findings, task) for task in queries if task != plan.ANTICIPATION):
        return []
    rows = []
    for run in measured(findings, plan.ANTICIPATION):
        for task, label in queries.items():
            first = task == plan.ANTICIPATION
            cells = cells_of(findings, run, task, QUERIES, None)
            rows.append(Row((LABELS[run] if first else "", label), cells, competes=False, rule=first))
    notes = (
        "Constant query: the mean of the model's futures over the labelled clips of all other test videos; task's mean "
        "future: over those of other videos of the clip's task. Neither sees the clip, so dyn is 50.",
        "Later above earlier: of the pairs of a later and an earlier step of the clip's own task.",
        intervals_note(findings),
    )
    title = "Table 2: with and without the clip"
    return [Table(title, ("model", "query"), columns_of(QUERIES, False), tuple(rows), notes)]


def table3(
    findings: Findings, task: str = plan.UNSHUFFLING, title: str = "Table 3: unshuffling image collections"
) -> list[Table]:
    """The order of a video's labelled clips."""
    quotes = task == plan.UNSHUFFLING
    rows = reference_rows(findings, task, UNSHUFFLING, tables_paper.TABLE3 if quotes else None)
    for place, run in enumerate(measured(findings, task)):
        texts = findings.samples(run, task, "kendall_tau/text")
        kinds = (("", ", vision only"), ("/text", ", with true text")) if texts else (("", ""),)
        for suffix, said in kinds:
            columns = [each.variant(suffix) for each in UNSHUFFLING]
            cells = cells_of(findings, run, task, columns, tables_paper.TABLE3.get(run, {}) if quotes else None)
            rows.append(Row((f"{LABELS[run]}{said}",), cells, rule=not place and not suffix))
    table = Table(
        title, ("model",), columns_of(UNSHUFFLING, quotes), tuple(rows), notes_of(findings, task, quotes, _MEMDPC)
    )
    tables = [table, _other_orders(findings, task, title), *ahead(findings, task, UNSHUFFLING, title)]
    if quotes and measured(findings, plan.TRANSITIONS):
        tables.append(_transitions(findings))
    return tables


_ORDERS = (
    FigureColumn("kendall_tau", "as in the paper", 3),
    FigureColumn("kendall_tau/no_prior", "without P(x)", 3),
    FigureColumn("kendall_tau/all_pairs", "all pairs", 3),
    FigureColumn("kendall_tau/text", "true text", 3),
    FigureColumn("kendall_tau/text/all_pairs", "true text, all pairs", 3),
    FigureColumn("kendall_tau/step_text", "step descriptions", 3),
)


def _other_orders(findings: Findings, task: str, title: str) -> Table:
    """Kendall's τ of the same graphs, ordered in other ways."""
    rows = [
        Row((LABELS[run],), tuple(findings.cell(run, task, figure.name) for figure in _ORDERS))
        for run in measured(findings, task)
    ]
    said = "All pairs: the order that maximizes the sum of log P(i → j) - log P(j → i) over i before j."
    notes = (intervals_note(findings), said)
    return Table(f"{title}: Kendall's τ by other orderings", ("model",), columns_of(_ORDERS, False), tuple(rows), notes)


def _transitions(findings: Findings) -> Table:
    task = plan.TRANSITIONS
    rows = reference_rows(findings, task, TRANSITIONS, None)
    for place, run in enumerate(measured(findings, task)):
        rows.append(Row((LABELS[run],), cells_of(findings, run, task, TRANSITIONS, None), rule=not place))
    notes = (
        "The ten most probable transitions of each test video (Eq. 12), 10 s apart.",
        *notes_of(findings, task, False),
    )
    return Table("Salient transitions", ("model",), columns_of(TRANSITIONS, False), tuple(rows), notes)


def transfer(findings: Findings) -> list[Table]:
    """Tables 2 and 3 on tasks that no model was trained on."""
    return [
        *table2(findings, plan.TRANSFER_ANTICIPATION, "Transfer to related tasks: future actions"),
        *table3(findings, plan.TRANSFER_UNSHUFFLING, "Transfer to related tasks: unshuffling"),
    ]


LAYOUTS: dict[str, Callable[[Findings], list[Table]]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "transfer": transfer,
    "ablation": ablation,
    "tuning": tuning,
    "scale": scale,
}
