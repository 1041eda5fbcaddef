"""Rows: question sets and the evaluations that were made on them."""

from training.models.evaluations import Evaluation
from training.models.question_sets import Question, QuestionSet

__all__ = ["Evaluation", "Question", "QuestionSet"]
