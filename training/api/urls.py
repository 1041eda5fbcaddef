"""URLs of training's API, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from training.api.evaluations import EvaluationDetail, EvaluationDownload, EvaluationOutcomes, Evaluations

app_name = "training-api"
urlpatterns = [
    path("evaluations/", Evaluations.as_view(), name="evaluations"),
    path("evaluations/<uuid:evaluation_id>/", EvaluationDetail.as_view(), name="evaluation"),
    path("evaluations/<uuid:evaluation_id>/outcomes/", EvaluationOutcomes.as_view(), name="evaluation-outcomes"),
    path("evaluations/<uuid:evaluation_id>/download/", EvaluationDownload.as_view(), name="evaluation-download"),
]
