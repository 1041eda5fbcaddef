"""URLs of training's API, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from training.api.annotation import (
    AnnotationEvidence,
    AnnotationJudgements,
    AnnotationNext,
    AnnotationOwnJudgements,
    AnnotationQueueDetail,
    AnnotationQueues,
    AnnotationReveal,
)
from training.api.evaluations import EvaluationDetail, EvaluationDownload, EvaluationOutcomes, Evaluations
from training.api.question_sets import FeedbackQuestions, QuestionSetChanges, QuestionSetDetail, QuestionSets

app_name = "training-api"
urlpatterns = [
    path("evaluations/", Evaluations.as_view(), name="evaluations"),
    path("evaluations/<uuid:evaluation_id>/", EvaluationDetail.as_view(), name="evaluation"),
    path("evaluations/<uuid:evaluation_id>/outcomes/", EvaluationOutcomes.as_view(), name="evaluation-outcomes"),
    path("evaluations/<uuid:evaluation_id>/download/", EvaluationDownload.as_view(), name="evaluation-download"),
    path("question-sets/", QuestionSets.as_view(), name="question-sets"),
    path("question-sets/from-feedback/", FeedbackQuestions.as_view(), name="question-sets-from-feedback"),
    path("question-sets/<int:set_id>/", QuestionSetDetail.as_view(), name="question-set"),
    path("question-sets/<int:set_id>/changes/", QuestionSetChanges.as_view(), name="question-set-changes"),
    path("annotation/queues/", AnnotationQueues.as_view(), name="annotation-queues"),
    path("annotation/queues/<int:queue_id>/", AnnotationQueueDetail.as_view(), name="annotation-queue"),
    path("annotation/queues/<int:queue_id>/next/", AnnotationNext.as_view(), name="annotation-next"),
    path("annotation/queues/<int:queue_id>/judgements/", AnnotationOwnJudgements.as_view(), name="annotation-own"),
    path("annotation/judgements/", AnnotationJudgements.as_view(), name="annotation-judgements"),
    path("annotation/items/<int:item_id>/evidence/", AnnotationEvidence.as_view(), name="annotation-evidence"),
    path("annotation/items/<int:item_id>/reveal/", AnnotationReveal.as_view(), name="annotation-reveal"),
]
