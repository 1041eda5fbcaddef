"""Mends what language models write almost right."""

from search.domain.mending.mend import mend

__all__ = ["mend"]
