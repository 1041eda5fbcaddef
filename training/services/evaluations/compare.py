"""compare: two evaluations question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from search.domain.errors import Fault, InvalidRequest, nearest
from search.services.pipelines.differing_settings import differing_settings
from training.evaluation.comparisons import comparisons
from training.evaluation.measures import MEASURES, Values, means
from training.models import AskedQuestion, Evaluation, Outcome
from training.services.evaluations.describe import labels_of

DIFFERENT = "different"
CHANGES = (DIFFERENT, "better", "worse", "same")


@dataclass(frozen=True)
class _Row:
    """The outcome of a question, as comparisons need it."""

    question: int
    position: int
    rank: int | None
    state: str
    lost_at: str
    measures: Mapping[str, float]


@dataclass(frozen=True)
class _Pair:
    """Two outcomes of one question, and by how much b's measure is larger."""

    a: _Row
    b: _Row
    difference: float

    @property
    def change(self) -> str:
        return "same" if not self.difference else "better" if self.difference > 0 else "worse"


class Pairs(Sequence[dict[str, Any]]):
    """Pairs of outcomes in their order. The texts of questions are read only for the pairs that are taken out."""

    def __init__(self, pairs: Sequence[_Pair]) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self[:])

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(at, int):
            return _described([self._pairs[at]])[0]
        return _described(self._pairs[at])


def compare_evaluations(
    a: Evaluation, b: Evaluation, *, pipeline_a: str = "", pipeline_b: str = "", metric: str = "MRR", change: str = ""
) -> dict[str, Any]:
    """Return the comparison of a pipeline of evaluation `a` with a pipeline of evaluation `b`.

    Questions are paired by text and answers, so the two sets may be different versions. Measures and the test by
    `metric` (`comparisons`) are over the pairs. `questions` has the pairs, those with the largest difference by
    `metric` first, each with the question's `position` in b; `change` keeps those where b is different, better, worse,
    or the same. `settings` lists the settings in which the two differ. An empty name of a pipeline means the first one.

    Raises InvalidRequest with every fault, also when the two have no question in common.
    """
    faults: list[Fault] = []
    labels = [
        _label(one, given, name, faults)
        for one, given, name in ((a, pipeline_a, "pipeline_a"), (b, pipeline_b, "pipeline_b"))
    ]
    if metric not in MEASURES:
        known = ", ".join(MEASURES)
        faults.append(Fault("/metric", f"metric is one of: {known}; not {metric[:80]!r}.", nearest(metric, MEASURES)))
    if change and change not in CHANGES:
        faults.append(Fault("/change", f"change is one of: {', '.join(CHANGES)}; not {change[:80]!r}."))
    if faults:
        raise InvalidRequest(faults)
    ours, theirs = _rows(a, labels[0]), _rows(b, labels[1])
    common = [hashed for hashed in ours if hashed in theirs]
    if not common:
        raise InvalidRequest([Fault("/b", "These two evaluations have no answered question in common.")])
    values = {"a": _values(ours, common), "b": _values(theirs, common)}
    pairs = [_pair(ours[hashed], theirs[hashed], metric) for hashed in common]
    return {
        "a": {"evaluation": str(a.pk), "pipeline": labels[0], "release": a.release_name, "metrics": means(values["a"])},
        "b": {"evaluation": str(b.pk), "pipeline": labels[1], "release": b.release_name, "metrics": means(values["b"])},
        "metric": metric,
        "common": len(common),
        "only_a": len(ours) - len(common),
        "only_b": len(theirs) - len(common),
        "comparisons": comparisons({side: {metric: values[side][metric]} for side in ("b", "a")}, a.seed),
        "settings": differing_settings(_specification(a, labels[0]), _specification(b, labels[1])),
        "questions": Pairs(sorted((one for one in pairs if _kept(one, change)), key=lambda one: -abs(one.difference))),
    }


def _kept(pair: _Pair, change: str) -> bool:
    return bool(pair.difference) if change == DIFFERENT else change in ("", pair.change)


def _label(evaluation: Evaluation, given: str, name: str, faults: list[Fault]) -> str:
    known = labels_of(evaluation)
    if given and given not in known:
        message = f"The evaluation {evaluation.pk} has no pipeline {given[:80]!r}; it has: {', '.join(known)}."
        faults.append(Fault(f"/{name}", message, nearest(given, known)))
    return given or next(iter(known), "")


def _rows(evaluation: Evaluation, label: str) -> dict[str, _Row]:
    """Return the outcomes of a pipeline by the hash of their questions, in the order of the questions."""
    rows = Outcome.objects.filter(evaluation=evaluation, pipeline=label).order_by("question__position").values_list(
        "question__hash", "question", "question__position", "rank", "state", "lost_at", "measures"
    )  # fmt: skip
    return {hashed: _Row(*rest) for hashed, *rest in rows}


def _values(rows: Mapping[str, _Row], hashes: list[str]) -> Values:
    return {name: np.array([rows[hashed].measures[name] for hashed in hashes]) for name in MEASURES}


def _pair(a: _Row, b: _Row, metric: str) -> _Pair:
    return _Pair(a, b, round(b.measures[metric] - a.measures[metric], 4))


def _described(pairs: Sequence[_Pair]) -> list[dict[str, Any]]:
    """Return pairs with the ids and texts of their questions in a."""
    asked = AskedQuestion.objects.in_bulk([pair.a.question for pair in pairs])
    return [
        {
            "id": asked[pair.a.question].identifier, "text": asked[pair.a.question].text,
            "position": pair.b.position, "difference": pair.difference, "change": pair.change,
            "a": {"rank": pair.a.rank, "state": pair.a.state, "lost_at": pair.a.lost_at or None},
            "b": {"rank": pair.b.rank, "state": pair.b.state, "lost_at": pair.b.lost_at or None},
        }
        for pair in pairs
    ]  # fmt: skip


def _specification(evaluation: Evaluation, label: str) -> Mapping[str, Any]:
    found = next((one for one in evaluation.specifications if one["label"] == label), None)
    return (found or evaluation.pipelines.get(label) or {}).get("specification", {})
