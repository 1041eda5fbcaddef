"""Recover: weakens plans that found nothing, step by step, until one of them finds something."""

from search.stages.recover.stage import Recover

__all__ = ["Recover"]
