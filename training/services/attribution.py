"""attribute: find the stage of a recorded search that lost each expected answer."""

from __future__ import annotations

from collections.abc import Sequence

from search.models import SearchRun
from training.evaluation.lost import TOP, Attribution


def attribute(run: SearchRun, expected: Sequence[str], *, k: int = TOP) -> Attribution:
    """Return where the expected answers (node ids) of a finished search were lost.

    The search is repeated with its own release, settings and specification where its recorded lists were cut, so call
    this right after the search, while its tools are in memory. `k` is the length of the top of a ranking. It never
    raises for a search that failed or whose release is gone: the attribution then says so.
    """
    raise NotImplementedError
