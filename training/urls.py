"""Where the doors of training open."""

from __future__ import annotations

from django.urls import path

from training.views.agreement import agreement, ask_model, correct, decide, export, items, question_set, rule
from training.views.annotate import guideline, judging, people, queues
from training.views.corrections import changed, corrections
from training.views.corrections import delete as delete_correction
from training.views.evaluations import compare, download, evaluations, question, questions, report

urlpatterns = [
    path("annotate/", queues, name="annotate"),
    path("annotate/<int:queue_id>/", judging, name="annotate-queue"),
    path("annotate/<int:queue_id>/guideline/", guideline, name="annotate-guideline"),
    path("annotate/<int:queue_id>/people/", people, name="annotation-people"),
    path("annotate/corrections/", corrections, name="corrections"),
    path("annotate/corrections/<int:correction_id>/delete/", delete_correction, name="correction-delete"),
    path("annotate/corrections/<uuid:evaluation_id>/", changed, name="corrections-changed"),
    path("annotate/<int:queue_id>/agreement/", agreement, name="annotation-agreement"),
    path("annotate/<int:queue_id>/agreement/model/", ask_model, name="annotation-model"),
    path("annotate/<int:queue_id>/agreement/question-set/", question_set, name="annotation-question-set"),
    path("annotate/<int:queue_id>/agreement/rule/", rule, name="annotation-rule"),
    path("annotate/<int:queue_id>/export/", export, name="annotation-export"),
    path("annotate/<int:queue_id>/items/", items, name="annotation-items"),
    path("annotate/<int:queue_id>/items/<int:item_id>/correct/", correct, name="annotation-correct"),
    path("annotate/<int:queue_id>/items/<int:item_id>/decide/", decide, name="annotation-decide"),
    path("evaluations/", evaluations, name="evaluations"),
    path("evaluations/compare/", compare, name="evaluations-compare"),
    path("evaluations/<uuid:evaluation_id>/", report, name="evaluation-report"),
    path("evaluations/<uuid:evaluation_id>/questions/", questions, name="evaluation-questions"),
    path("evaluations/<uuid:evaluation_id>/questions/<int:position>/", question, name="evaluation-question"),
    path("evaluations/<uuid:evaluation_id>/download/", download, name="evaluation-file"),
]
