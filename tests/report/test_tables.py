"""Tables by hand: what a person would write for a few small figures."""

import math
from dataclasses import replace

import pytest

from mmcc.report.tables import (
    EMPTY,
    Cell,
    Column,
    Row,
    Table,
    figure_text,
    latex_text,
    notes_as_markdown,
    to_html,
    to_latex,
    to_markdown,
    unranked,
)

COLUMNS = (Column("R@1"), Column("paper", quoted=True), Column("edit dist.", 2, -1))
TABLE = Table(
    "Recall & order",
    ("model",),
    COLUMNS,
    (
        Row(("Chance",), (Cell(60.0), EMPTY, Cell(1.0)), competes=False),
        Row(("ours | theirs",), (Cell(12.34, 11.9, 12.9), Cell(5.4), Cell(5.333, 5.1, 5.3)), rule=True),
        Row(("MMCC_x",), (Cell(12.3), Cell(text="-7 %"), Cell(math.nan))),
    ),
    ("ρ < 1 & 50 %",),
)


def test_markdown_as_a_person_would_write_it():
    assert to_markdown(TABLE) == "\n".join(
        [
            r"| model          |            R@1 |   paper |      edit dist. |",
            r"|:---------------|---------------:|--------:|----------------:|",
            r"| Chance         |           60.0 |       – |            1.00 |",
            r"| ours \| theirs | **12.3 ± 0.5** | **5.4** | **5.33 ± 0.10** |",
            r"| MMCC_x         |       **12.3** |    -7 % |               – |",
        ]
    )


def test_latex_as_a_person_would_write_it():
    assert to_latex(TABLE) == "\n".join(
        [
            r"% Recall & order",
            r"\begin{tabular}{lrrr}",
            r"\toprule",
            r"\textbf{model} & \textbf{R@1} & \textbf{paper} & \textbf{edit dist.} \\",
            r"\midrule",
            r"Chance & 60.0 & -- & 1.00 \\",
            r"\midrule",
            r"ours | theirs & \textbf{12.3 $\pm$ 0.5} & \textbf{5.4} & \textbf{5.33 $\pm$ 0.10} \\",
            r"MMCC\_x & \textbf{12.3} & -7 \% & -- \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"% ρ < 1 & 50 %",
            "",
        ]
    )


def test_html_has_every_cell_in_its_place():
    text = to_html(TABLE)
    assert text.count("<tr") == 4 and text.count("<td") == 9 and text.count("<strong>") == 4
    assert (
        '<td class="figure"><strong>12.3 ±\N{NO-BREAK SPACE}0.5</strong></td><td class="figure quoted"><strong>5.4'
        in text
    )
    assert '<p class="note">ρ &lt; 1 &amp; 50 %</p>' in text


def test_the_lower_the_better_where_a_column_says_so():
    rows = tuple(Row((name,), (Cell(value),)) for name, value in (("a", 3.0), ("b", 2.0), ("c", math.nan)))
    assert Table("t", ("",), (Column("x", better=-1),), rows).strong() == {(1, 0)}
    assert Table("t", ("",), (Column("x", better=1),), rows).strong() == {(0, 0)}
    assert Table("t", ("",), (Column("x", better=0),), rows).strong() == frozenset()


def test_what_looks_alike_is_strong_alike():
    rows = tuple(Row((name,), (Cell(value),)) for name, value in (("a", 12.34), ("b", 12.31), ("c", 12.24)))
    assert Table("t", ("",), (Column("x"),), rows).strong() == {(0, 0), (1, 0)}


def test_a_cell_may_be_strong_by_itself():
    rows = (Row(("a",), (Cell(text="+1 [0.5, 2]", strong=True),), competes=False),)
    assert to_markdown(Table("t", ("",), (Column("x", better=0),), rows)).endswith("| **+1 [0.5, 2]** |")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Cell(0.12345, 0.1, 0.2), "0.12 ± 0.05"),
        (Cell(3.0, None, 4.0), "3.00"),
        (Cell(3.0, math.nan, 4.0), "3.00"),
        (Cell(math.inf), "–"),
        (EMPTY, "–"),
        (Cell(1.0, text="collapses"), "collapses"),
    ],
)
def test_a_figure_as_text(cell, text):
    assert figure_text(cell, 2) == text


def test_no_mark_of_latex_goes_through():
    assert latex_text("50 % of $x_1$ & \\input{y} #~^ λ2 → τ") == (
        r"50 \% of \$x\_1\$ \& \textbackslash{}input\{y\} \#\textasciitilde{}\textasciicircum{} "
        r"$\lambda$2 $\to$ $\tau$"
    )


def test_no_mark_of_markdown_goes_through():
    assert notes_as_markdown(["*a* _b_ c_d <i> [x](y)\nz"]) == r"- \*a\* \_b\_ c_d \<i\> [x\](y) z"


def test_a_row_must_fit_its_columns():
    with pytest.raises(ValueError, match="does not fit"):
        Table("t", ("",), COLUMNS, (Row(("a",), (EMPTY,)),))


def test_figures_that_mean_nothing_have_no_winner_but_the_reason():
    plain = unranked(
        replace(TABLE, rows=(*TABLE.rows, Row(("ahead",), (Cell(text="+1", strong=True),) * 3))), "A test."
    )
    assert plain.strong() == frozenset() and plain.notes == ("A test.", *TABLE.notes)
    assert "**" not in to_markdown(plain) and r"& \textbf" not in to_latex(plain).split("midrule", 1)[1]
    assert "% A test." in to_latex(plain) and "A test." in to_html(plain)
