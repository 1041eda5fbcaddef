"""Conditions of a question (exclusions, orders, comparisons, values, numbers, dates) bound to one candidate plan."""

from search.stages.plan.conditions.bind import Binder, Bound
from search.stages.plan.conditions.condition import Condition

__all__ = ["Binder", "Bound", "Condition"]
