"""Where the doors of training open."""

from __future__ import annotations

from django.urls import path

from training.views.evaluations import compare, download, evaluations, question, questions, report

urlpatterns = [
    path("evaluations/", evaluations, name="evaluations"),
    path("evaluations/compare/", compare, name="evaluations-compare"),
    path("evaluations/<uuid:evaluation_id>/", report, name="evaluation-report"),
    path("evaluations/<uuid:evaluation_id>/questions/", questions, name="evaluation-questions"),
    path("evaluations/<uuid:evaluation_id>/questions/<int:position>/", question, name="evaluation-question"),
    path("evaluations/<uuid:evaluation_id>/download/", download, name="evaluation-file"),
]
