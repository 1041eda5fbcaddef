"""Rows: question sets, the evaluations that were made on them, and the options that were chosen on them."""

from training.models.chosen_options import ChosenOptions
from training.models.evaluations import Evaluation
from training.models.question_sets import Question, QuestionSet

__all__ = ["ChosenOptions", "Evaluation", "Question", "QuestionSet"]
