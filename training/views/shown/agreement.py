"""The agreement of a queue as its page shows it: coefficients with bars, a matrix of pairs, grades, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.annotation.agreement import RELIABLE, TENTATIVE
from training.annotation.guidelines import GRADES

Json = Mapping[str, Any]
WIDE = 1000
"""Width of the drawings in their own units; they show the values from -1 to 1."""
GRADE_WORDS = {grade: words.partition(":")[0] for grade, words in sorted(GRADES.items())}
"""The beginnings of what the guideline says about each grade."""
STEPS = (0.0, 0.4, TENTATIVE, RELIABLE)
"""Values at which the shade of a cell of the matrix changes."""


@dataclass(frozen=True, slots=True)
class CoefficientShown:
    """A coefficient with its interval, and their places in a drawing.

    `why` says why it or the interval is missing, `claim` what it allows to say.
    """

    value: float | None
    low: float | None
    high: float | None
    why: str
    claim: str

    @classmethod
    def of(cls, told: Json) -> CoefficientShown:
        """Return what is shown of a coefficient of a report."""
        low, high = told["interval"] or (None, None)
        return cls(told["value"], low, high, told["why"], told["claim"])

    @property
    def line(self) -> tuple[float, float, float]:
        """Return begin and width of the interval, and the place of the value, in a drawing of `WIDE` units."""
        value = self.value or 0.0
        low, high = (value if self.low is None else self.low), (value if self.high is None else self.high)
        return _place(low), max(1.0, _place(high) - _place(low)), _place(value)

    @property
    def shade(self) -> int:
        """The shade of a cell, from 0 (nothing is certain) to 4, by the low end of the interval."""
        return 0 if self.low is None or self.low <= 0 else sum(self.low >= step for step in STEPS)


@dataclass(frozen=True, slots=True)
class PairShown:
    """Two graders: both kappas, their common items, and how many of them got the same grade."""

    a: str
    b: str
    items: int
    same: int
    quadratic: CoefficientShown
    linear: CoefficientShown

    @property
    def percent(self) -> float:
        """Percent of the common items with the same grade."""
        return 100 * self.same / self.items if self.items else 0.0


@dataclass(frozen=True, slots=True)
class GradeShown:
    """One grade: how often it was given, its share with a bar, and alpha of it against all others."""

    grade: int
    words: str
    given: int
    percent: float
    alpha: CoefficientShown


@dataclass(frozen=True)
class ModelShown:
    """A language model against people."""

    name: str
    graded: int
    without: CoefficientShown
    together: CoefficientShown
    people: tuple[PairShown, ...]
    final: PairShown

    @property
    def against(self) -> tuple[PairShown, ...]:
        """Each person, then the final grades of people."""
        return (*self.people, self.final)


@dataclass(frozen=True)
class AgreementShown:
    """The agreement of a queue. `matrix` has a row for each person; a cell is empty on the diagonal."""

    items: int
    graded: int
    paired: int
    differ: int
    grades: int
    meaning: str
    ordinal: CoefficientShown
    nominal: CoefficientShown
    graders: Sequence[Json]
    pairs: tuple[PairShown, ...]
    matrix: tuple[tuple[str, tuple[PairShown | None, ...]], ...]
    by_grade: tuple[GradeShown, ...]
    models: tuple[ModelShown, ...]


def agreement_shown(report: Json) -> AgreementShown:
    """Return what the page shows of a report."""
    pairs = tuple(_pair(one["a"], one["b"], one) for one in report["pairs"])
    by_names = {(one.a, one.b): one for one in pairs} | {(one.b, one.a): one for one in pairs}
    names = [one["name"] for one in report["graders"]]
    return AgreementShown(
        items=report["items"], graded=report["graded"], paired=report["paired"], differ=report["differ"],
        grades=report["grades"], meaning=report["meaning"],
        ordinal=CoefficientShown.of(report["alpha"]["ordinal"]),
        nominal=CoefficientShown.of(report["alpha"]["nominal"]), graders=report["graders"], pairs=pairs,
        matrix=tuple((name, tuple(by_names.get((name, other)) for other in names)) for name in names),
        by_grade=tuple(_grade(one) for one in report["by_grade"]),
        models=tuple(_model(one) for one in report["models"]),
    )  # fmt: skip


def _pair(a: str, b: str, told: Json) -> PairShown:
    return PairShown(
        a, b, told["items"], told["same"], CoefficientShown.of(told["quadratic"]), CoefficientShown.of(told["linear"])
    )


def _grade(told: Json) -> GradeShown:
    grade = told["grade"]
    return GradeShown(
        grade, GRADE_WORDS.get(grade, ""), told["given"], 100 * (told["share"] or 0.0),
        CoefficientShown.of(told["alpha"]),
    )  # fmt: skip


def _model(told: Json) -> ModelShown:
    name = told["name"]
    return ModelShown(
        name, told["graded"], CoefficientShown.of(told["without"]), CoefficientShown.of(told["with"]),
        tuple(_pair(one["name"], name, one) for one in told["people"]),
        _pair("Final grades of people", name, told["final"]),
    )  # fmt: skip


def _place(value: float) -> float:
    return round(WIDE * (min(1.0, max(-1.0, value)) + 1) / 2, 1)
