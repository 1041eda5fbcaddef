"""The final grade of an item: a decision, agreement, or the stated rule."""

from __future__ import annotations

import pytest

from training.annotation.final_grades import FinalGrade, GradingWay, final_grade


@pytest.mark.parametrize(
    ("grades", "rule", "decision", "expected"),
    [
        ([2, 2, 2], "majority", None, FinalGrade(2, GradingWay.AGREED)),
        ([0], "majority", None, FinalGrade(0, GradingWay.SINGLE)),
        ([3], "median", None, FinalGrade(3, GradingWay.SINGLE)),
        ([0, 0], "median", None, FinalGrade(0, GradingWay.AGREED)),
        ([2], "majority", 1, FinalGrade(1, GradingWay.ADJUDICATED)),
        ([0, 3, 3], "majority", None, FinalGrade(3, GradingWay.MAJORITY)),
        ([0, 3], "majority", None, FinalGrade(None, GradingWay.TIE)),
        ([0, 1, 2], "majority", None, FinalGrade(None, GradingWay.TIE)),
        ([0, 0, 3, 3], "majority", None, FinalGrade(None, GradingWay.TIE)),
        ([0, 1, 3], "median", None, FinalGrade(1, GradingWay.MEDIAN)),
        ([3, 1], "median", None, FinalGrade(1, GradingWay.MEDIAN)),
        ([3, 3, 0, 2], "median", None, FinalGrade(2, GradingWay.MEDIAN)),
        ([], "median", None, FinalGrade(None, GradingWay.NONE)),
        ([0, 3], "majority", 1, FinalGrade(1, GradingWay.ADJUDICATED)),
        ([], "majority", 0, FinalGrade(0, GradingWay.ADJUDICATED)),
    ],
)
def test_the_final_grade_of_an_item(grades: list[int], rule: str, decision: int | None, expected: FinalGrade) -> None:
    assert final_grade(grades, rule, decision) == expected


def test_another_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="'loudest' is no rule"):
        final_grade([1], "loudest")
