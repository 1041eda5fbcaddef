"""The one grade of an item that several people graded: adjudicated, agreed, or by a stated rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class GradingWay(StrEnum):
    """How a final grade came about."""

    ADJUDICATED = "adjudicated"
    AGREED = "agreed"
    MAJORITY = "majority"
    MEDIAN = "median"
    SINGLE = "one grade"
    TIE = "tie"
    NONE = "no grade"


@dataclass(frozen=True, slots=True)
class FinalGrade:
    """The final grade of an item, None while it is open (`TIE`, `NONE`), and how it came about.

    `SINGLE` is the grade of one person alone: it counts, but nobody has agreed with it yet.
    """

    grade: int | None
    way: GradingWay


def final_grade(grades: Sequence[int], rule: str, adjudicated: int | None = None) -> FinalGrade:
    """Return the final grade of an item with these grades.

    An adjudicator's decision comes first. By the rule `majority` the grade that most gave counts, and a tie between
    several such grades stays open. By `median` the median counts; of two middle grades the lower one, because a
    doubtful answer must not flatter a pipeline. Raises ValueError for another rule.
    """
    if rule not in (GradingWay.MAJORITY, GradingWay.MEDIAN):
        raise ValueError(f"{rule!r} is no rule; there are: {GradingWay.MAJORITY}, {GradingWay.MEDIAN}.")
    if adjudicated is not None:
        return FinalGrade(adjudicated, GradingWay.ADJUDICATED)
    if not grades:
        return FinalGrade(None, GradingWay.NONE)
    if len(grades) == 1:
        return FinalGrade(grades[0], GradingWay.SINGLE)
    if len(set(grades)) == 1:
        return FinalGrade(grades[0], GradingWay.AGREED)
    if rule == GradingWay.MEDIAN:
        return FinalGrade(sorted(grades)[(len(grades) - 1) // 2], GradingWay.MEDIAN)
    (grade, most), (_, second) = Counter(grades).most_common(2)
    return FinalGrade(None, GradingWay.TIE) if most == second else FinalGrade(grade, GradingWay.MAJORITY)
