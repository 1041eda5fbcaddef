"""Mends small faults in plans that language models write."""

from search.domain.mending.mend import mend

__all__ = ["mend"]
