"""A plan that finds nothing is changed, one step after another, until it finds something."""

from search.stages.recover.stage import Recover

__all__ = ["Recover"]
