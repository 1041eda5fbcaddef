"""Knowledge of a schema: possible walks, their wording, and which elements the words of a question refer to."""

from search.stages.plan.knowledge.knowledge import Knowledge

__all__ = ["Knowledge"]
