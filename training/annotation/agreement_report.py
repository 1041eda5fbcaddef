"""The agreement of a queue as a report: alpha, kappa of pairs, figures of each grade, and models against people.

Language models never take part in the figures of people. Each has its own: alpha with and without it, and kappa
against each person and against the final grade.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from training.annotation.agreement import (
    RELIABLE,
    SEED,
    TENTATIVE,
    AgreementWeights,
    Claim,
    Coefficient,
    Level,
    Matrix,
    alpha,
    alpha_of_grade,
    kappa,
)


@dataclass(frozen=True, slots=True)
class Grader:
    """Somebody who grades: the name that leads are shown, and whether it is a language model."""

    name: str
    model: bool = False


def agreement_report(
    graders: Sequence[Grader], grades: Matrix, final: Matrix, scale: Sequence[int], seed: int = SEED
) -> dict[str, Any]:
    """Return the agreement of a queue. `grades` has the shape (graders, items), `final` (items,); NaN where none is.

    `final` are the final grades of people alone.
    """
    people = [at for at, grader in enumerate(graders) if not grader.model]
    of_people = grades[people]
    graded = ~np.isnan(of_people)
    paired = graded.sum(axis=0) >= 2
    ordinal = alpha(of_people, scale, Level.ORDINAL, seed)
    return {
        "items": int(grades.shape[1]),
        "graded": int(graded.any(axis=0).sum()),
        "paired": int(paired.sum()),
        "differ": int((np.nanmax(of_people[:, paired], axis=0) > np.nanmin(of_people[:, paired], axis=0)).sum())
        if paired.any() else 0,
        "grades": int(graded.sum()),
        "alpha": {"ordinal": ordinal.to_json(), "nominal": alpha(of_people, scale, Level.NOMINAL, seed).to_json()},
        "meaning": meaning(ordinal),
        "graders": [_grader(graders[at], grades[at]) for at in people],
        "pairs": [_pair(graders, grades, pair, scale, seed) for pair in combinations(people, 2)],
        "by_grade": [_grade(of_people, scale, grade, seed) for grade in scale],
        "models": [
            _model(graders, grades, final, people, at, scale, seed)
            for at, grader in enumerate(graders) if grader.model
        ],
    }  # fmt: skip


def meaning(found: Coefficient) -> str:
    """Return in a sentence or two what ordinal alpha says, and no more than its interval allows."""
    if found.value is None:
        return found.why
    items = f"{found.items:,} item{'' if found.items == 1 else 's'}"
    if found.low is None or found.high is None:
        return f"Too few to say how far the annotators agree: α is {found.value:.2f}, but {found.why}"
    between = f"α is {found.value:.2f}, and by {items} it lies between {found.low:.2f} and {found.high:.2f}"
    return SENTENCES[found.claim].format(between=between, tentative=TENTATIVE, reliable=RELIABLE)


SENTENCES: Mapping[Claim, str] = {
    Claim.RELIABLE: "The annotators agree well enough to rely on their grades: {between} (customary from {reliable} "
    "on).",
    Claim.TENTATIVE: "The annotators agree well enough for tentative conclusions, not to rely on single grades: "
    "{between} (customary from {tentative} and {reliable} on).",
    Claim.AT_LEAST_TENTATIVE: "The annotators agree at least well enough for tentative conclusions: {between}. Whether "
    "one can rely on single grades (from {reliable} on), more items will tell.",
    Claim.LITTLE: "The annotators agree less than is needed for conclusions ({tentative}): {between}. Look at the "
    "disagreements, make the guideline clearer where they lie, and judge again.",
    Claim.CHANCE: "The annotators agree no more than chance would: {between}. The guideline is read in different ways.",
    Claim.TOO_FEW: "Too few items to say how far the annotators agree: {between}. That is room for less than is needed "
    "for conclusions ({tentative}) and for more. Judge more items.",
}


def _grader(grader: Grader, grades: Matrix) -> dict[str, Any]:
    given = grades[~np.isnan(grades)]
    mean = round(float(given.mean()), 2) if len(given) else None
    return {"name": grader.name, "graded": len(given), "mean": mean}


def _pair(
    graders: Sequence[Grader], grades: Matrix, pair: tuple[int, int], scale: Sequence[int], seed: int
) -> dict[str, Any]:
    first, second = grades[pair[0]], grades[pair[1]]
    return {"a": graders[pair[0]].name, "b": graders[pair[1]].name, **_kappas(first, second, scale, seed)}


def _kappas(first: Matrix, second: Matrix, scale: Sequence[int], seed: int) -> dict[str, Any]:
    """Return both kappas, the number of common items, and how many of them got the same grade from both."""
    both = ~(np.isnan(first) | np.isnan(second))
    return {
        "items": int(both.sum()), "same": int((first[both] == second[both]).sum()),
        "quadratic": kappa(first, second, scale, AgreementWeights.QUADRATIC, seed).to_json(),
        "linear": kappa(first, second, scale, AgreementWeights.LINEAR, seed).to_json(),
    }  # fmt: skip


def _grade(grades: Matrix, scale: Sequence[int], grade: int, seed: int) -> dict[str, Any]:
    given = int((grades == grade).sum())
    whole = int((~np.isnan(grades)).sum())
    return {
        "grade": grade, "given": given, "share": round(given / whole, 4) if whole else None,
        "alpha": alpha_of_grade(grades, scale, grade, seed).to_json(),
    }  # fmt: skip


def _model(
    graders: Sequence[Grader], grades: Matrix, final: Matrix, people: Sequence[int], at: int, scale: Sequence[int],
    seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Return a language model against people, over the items that it graded."""
    seen = ~np.isnan(grades[at])
    return {
        **_grader(graders[at], grades[at]),
        "without": alpha(grades[people][:, seen], scale, Level.ORDINAL, seed).to_json(),
        "with": alpha(grades[[*people, at]][:, seen], scale, Level.ORDINAL, seed).to_json(),
        "people": [{"name": graders[one].name, **_kappas(grades[one], grades[at], scale, seed)} for one in people],
        "final": _kappas(final, grades[at], scale, seed),
    }
