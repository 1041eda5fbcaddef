"""What is known of a schema and its words: how it is walked, how that is said, what a single word speaks of."""

from search.stages.plan.knowledge.knowledge import Knowledge

__all__ = ["Knowledge"]
