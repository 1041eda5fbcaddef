"""describe: evaluations as API, commands and pages show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, QuerySet

from search.models import KnowledgeBase
from training.evaluation.lost import in_flow
from training.models import Evaluation
from training.services.question_sets import described_set

User = AbstractBaseUser | AnonymousUser | None


def list_evaluations(*, user: User = None, knowledge_base: str = "", status: str = "") -> QuerySet[Evaluation]:
    """Return the evaluations of the knowledge bases that `user` may see (None: the system), newest first.

    Tunings are left out: they have no outcomes.
    """
    found = Evaluation.objects.filter(
        purpose=Evaluation.Purpose.REPORT, knowledge_base__in=KnowledgeBase.objects.visible_to(user)
    ).select_related("knowledge_base", "question_set")
    if knowledge_base:
        found = found.filter(knowledge_base__name=knowledge_base.replace("\x00", ""))
    if status:
        found = found.filter(status=status)
    return found.order_by("-created", "pk")


def find_evaluation(evaluation_id: UUID, user: User = None) -> Evaluation | None:
    """Return an evaluation that `user` may see, or None."""
    return list_evaluations(user=user).filter(pk=evaluation_id).first()


def summarise_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as lists show it: what it is of, its state, and the measures of each pipeline."""
    parts: Mapping[str, Any] = (evaluation.report or {}).get("pipelines", {})
    return {
        "id": str(evaluation.pk),
        "knowledge_base": evaluation.knowledge_base.name,
        "release": evaluation.release_name,
        "question_set": described_set(evaluation.question_set),
        "split": evaluation.split or None,
        "questions": evaluation.questions,
        "status": evaluation.status,
        "reason": evaluation.reason,
        "created": evaluation.created.isoformat(),
        "finished": evaluation.finished.isoformat() if evaluation.finished else None,
        "pipelines": [
            {"label": label, "metrics": parts.get(label, {}).get("metrics")} for label in labels_of(evaluation)
        ],
    }


def describe_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation with its report, whose pipelines are in the order in which they were given.

    `answered` counts the outcomes by pipeline, so that an evaluation that was interrupted shows how far it came.
    """
    counted = evaluation.outcomes.order_by().values("pipeline").annotate(n=Count("pk"))
    answered = {row["pipeline"]: row["n"] for row in counted}
    return summarise_evaluation(evaluation) | {
        "settings_version": evaluation.settings_version,
        "code_version": evaluation.code_version,
        "seed": evaluation.seed,
        "specifications": evaluation.specifications,
        "answered": {label: answered.get(label, 0) for label in labels_of(evaluation)},
        "report": ordered_report(evaluation),
    }


def ordered_report(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return the report with its pipelines in the order in which they were given; None when there is no report.

    Postgres stores the report with its keys in another order. The stages that lost answers are in that of the flow.
    """
    report = evaluation.report
    if report is None or "pipelines" not in report:
        return report
    parts = report["pipelines"]
    return report | {"pipelines": {label: _ordered(parts[label]) for label in labels_of(evaluation) if label in parts}}


def _ordered(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pipeline's part of the report with its lost questions in the order of the flow."""
    return {**part, "lost_at": in_flow(part["lost_at"])} if part.get("lost_at") else part


def pipeline_of(evaluation: Evaluation, label: str) -> str:
    """Return the name of the pipeline that has this label in an evaluation."""
    given: Sequence[Mapping[str, Any]] = evaluation.specifications
    return next((one["pipeline"] for one in given if one["label"] == label), label)


def labels_of(evaluation: Evaluation) -> list[str]:
    """Return the labels of an evaluation's pipelines in the order in which they were given."""
    given: Sequence[Mapping[str, Any]] = evaluation.specifications
    return [one["label"] for one in given] or sorted(evaluation.pipelines)
