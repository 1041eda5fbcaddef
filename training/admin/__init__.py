"""Pages of the admin about questions, what was measured on them, and what people judge."""

from training.admin import annotation, evaluations, question_sets

__all__ = ["annotation", "evaluations", "question_sets"]
