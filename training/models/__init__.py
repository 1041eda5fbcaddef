"""Rows: question sets, the evaluations that were made on them, and the options that were chosen on them."""

from training.models.chosen_options import ChosenOptions
from training.models.evaluations import AskedQuestion, Evaluation, Outcome
from training.models.question_sets import Question, QuestionSet

__all__ = ["AskedQuestion", "ChosenOptions", "Evaluation", "Outcome", "Question", "QuestionSet"]
