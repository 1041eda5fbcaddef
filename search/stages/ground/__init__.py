"""Triplets and candidates → the nodes of each symbol at a fixed point (AF-Retriever, algorithms 1 and 2)."""

from search.stages.ground.stage import Ground, growth

__all__ = ["Ground", "growth"]
