"""Question → plans: mentions, answer type, every plan the data has, and how well each fits the question's words."""

from search.stages.plan.joined import JoinedPlanner
from search.stages.plan.planner import Planner

__all__ = ["JoinedPlanner", "Planner"]
