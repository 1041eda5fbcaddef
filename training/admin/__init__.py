"""Pages of the admin about questions and what was measured on them; all of them are read-only."""

from training.admin import evaluations, question_sets

__all__ = ["evaluations", "question_sets"]
