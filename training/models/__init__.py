"""Rows: question sets, evaluations made on them, options chosen on them, and what people judge."""

from training.models.agreement import Adjudication, Correction, FinalRule, GradesSeen, ModelAnnotator
from training.models.annotation import (
    AnnotationItem,
    AnnotationQueue,
    Assignment,
    FailureCause,
    Judgement,
    JudgementRevision,
    Verdict,
)
from training.models.chosen_options import ChosenOptions
from training.models.evaluations import AskedQuestion, Evaluation, Outcome
from training.models.question_sets import Question, QuestionSet

__all__ = [
    "Adjudication",
    "AnnotationItem",
    "AnnotationQueue",
    "AskedQuestion",
    "Assignment",
    "ChosenOptions",
    "Correction",
    "Evaluation",
    "FailureCause",
    "FinalRule",
    "GradesSeen",
    "Judgement",
    "JudgementRevision",
    "ModelAnnotator",
    "Outcome",
    "Question",
    "QuestionSet",
    "Verdict",
]
