"""Question → plans: find mentions and the answer type, list the plans that the data allows, score each plan."""

from search.stages.plan.joined import JoinedPlanner
from search.stages.plan.planner import Planner

__all__ = ["JoinedPlanner", "Planner"]
