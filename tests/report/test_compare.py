"""Two models side by side, as text."""

from mmcc.evaluation.compare import compared
from mmcc.report.compare import render_comparison
from tests.evaluation.test_compare import evaluation


def test_differences_that_are_clear_are_marked():
    above = {str(at): 50 + at % 5 for at in range(30)}
    one = evaluation("a", **{"recall@1": above, "recall@5": above})
    other = evaluation("b", **{"recall@1": {at: value - 7 for at, value in above.items()}, "recall@5": above})
    other.skipped["cycle"] = "b has no past"
    lines = render_comparison(compared(one, other)).splitlines()
    (first,) = [line for line in lines if line.startswith("| recall@1")]
    (second,) = [line for line in lines if line.startswith("| recall@5")]
    assert "52.0" in first and "45.0" in first and "+7.0 [+7.0, +7.0], clear" in first
    assert "+0.0 [+0.0, +0.0]" in second and "clear" not in second
    assert any("excludes 0" in line for line in lines) and any("cycle: b has no past" in line for line in lines)
