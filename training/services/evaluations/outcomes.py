"""outcomes: the outcomes of an evaluation by question, filtered and sorted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import OrderBy

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from training.models import Evaluation, Outcome
from training.services.evaluations.describe import labels_of

FOUND_SHOWN = 10
"""Results of the ranking that a list of outcomes shows for each of them."""
SLICE = "slice."
SORTS: Mapping[str, tuple[str | OrderBy, ...]] = {
    "position": ("question__position",),
    "rank": (F("rank").asc(nulls_last=True), "question__position"),
    "-rank": (F("rank").desc(nulls_first=True), "question__position"),
    "seconds": ("seconds", "question__position"),
    "-seconds": ("-seconds", "question__position"),
}
"""Sort orders; `-rank` shows the worst questions first."""
FOUND: Mapping[str, Q] = {
    "first": Q(rank=1),
    "not first": Q(rank__gt=1),
    "top 5": Q(rank__lte=5),
    "top 20": Q(rank__lte=20),
    "top 100": Q(rank__isnull=False),
    "none": Q(rank__isnull=True),
    "sure and wrong": Q(leads=True) & (Q(rank__gt=1) | Q(rank__isnull=True)),
}
"""Filters by the rank of the first answer; the last one is about plans that were called almost surely right."""
KEYS = ("pipeline", "state", "found", "lost_at", "answer_type", "plan_shape", "split", "question", "sort")


@dataclass(frozen=True)
class OutcomeFilters:
    """What a list of outcomes shows. Empty means that all are shown.

    `question` is a part of its text or its id; `found` is a key of `FOUND`, `sort` a key of `SORTS`; `slices` are
    values by slice key.
    """

    pipeline: str = ""
    state: str = ""
    found: str = ""
    lost_at: str = ""
    answer_type: str = ""
    plan_shape: str = ""
    split: str = ""
    question: str = ""
    sort: str = "position"
    slices: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: Mapping[str, str], evaluation: Evaluation, also: tuple[str, ...] = ()) -> OutcomeFilters:
        """Return the filters of a query string; a key `slice.hops` filters by the slice `hops`. Empty values are left
        out.

        `also` are keys that are not filters. Raises InvalidRequest with a fault for every unknown key or value.
        """
        values = {key: value.replace("\x00", "") for key, value in given.items() if value and key not in also}
        slices = {key.removeprefix(SLICE): value for key, value in values.items() if key.startswith(SLICE)}
        plain = {key: value for key, value in values.items() if not key.startswith(SLICE)}
        choices = {"pipeline": labels_of(evaluation), "state": Outcome.State.values, "found": FOUND, "sort": SORTS}
        faults = [
            Fault(pointer(key), f"Outcomes have no filter {key[:80]!r}; there are: {', '.join(KEYS)}, slice.KEY.",
                  nearest(key, KEYS))
            for key in plain if key not in KEYS
        ]  # fmt: skip
        for key, known in choices.items():
            if key in plain and plain[key] not in known:
                message = f"{key} is one of: {', '.join(known)}; not {plain[key][:80]!r}."
                faults.append(Fault(pointer(key), message, nearest(plain[key], list(known))))
        if faults:
            raise InvalidRequest(faults)
        return cls(**plain, slices=slices)


def outcomes(evaluation: Evaluation, filters: OutcomeFilters | None = None) -> QuerySet[Outcome]:
    """Return the outcomes that pass the filters, in their order."""
    filters = filters or OutcomeFilters()
    found = Outcome.objects.filter(evaluation=evaluation).select_related("question")
    for name in ("pipeline", "state", "lost_at", "plan_shape"):
        if value := getattr(filters, name):
            found = found.filter(**{name: value})
    for name in ("answer_type", "split"):
        if value := getattr(filters, name):
            found = found.filter(**{f"question__{name}": value})
    if filters.found:
        found = found.filter(FOUND[filters.found])
    if filters.slices:
        found = found.filter(question__slices__contains=dict(filters.slices))
    if filters.question:
        of_text = found.filter(question__text__icontains=filters.question)
        found = of_text | found.filter(question__identifier=filters.question)
    return found.order_by(*SORTS[filters.sort], "pipeline")


def describe_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as lists show it: the question with its answers, beside the best results that were found."""
    question = outcome.question
    return {
        "question": {
            "id": question.identifier, "text": question.text, "answers": question.answers, "unknown": question.unknown,
            "answer_type": question.answer_type, "split": question.split, "slices": question.slices,
        },
        "pipeline": outcome.pipeline,
        "search": str(outcome.run) if outcome.run else None,
        "state": outcome.state,
        "error": outcome.error,
        "rank": outcome.rank,
        "found": [
            {"id": node, "score": score, "answer": node in question.answers, "grade": question.grades.get(node)}
            for node, score in zip(outcome.ids[:FOUND_SHOWN], outcome.scores, strict=False)
        ],
        "metrics": outcome.measures,
        "seconds": outcome.seconds,
        "stages": outcome.stages,
        "plan_shape": outcome.plan_shape,
        "probability": outcome.probability,
        "leads": outcome.leads,
        "cached_model_calls": outcome.cached_calls,
        "model_use": outcome.model_use,
        "lost_at": outcome.lost_at or None,
        "lost": outcome.lost,
    }  # fmt: skip
