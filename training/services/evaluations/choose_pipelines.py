"""choose_pipelines: the pipelines of an evaluation, where `all` stands for every one that this site can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from search import checks, wiring

ALL = "all"


@dataclass(frozen=True)
class ChosenPipelines:
    """The pipelines to evaluate, and those that `all` leaves out, each with the reason."""

    names: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)


def choose_pipelines(given: Sequence[str]) -> ChosenPipelines:
    """Return the pipelines that are meant; none given means `all`.

    `all` may stand beside others, such as `all` and `grasp fuse.k=5`; a pipeline that is named beside it is asked once.
    What is named is not left out: if it cannot be run, that is a fault of the request.
    """
    if given and ALL not in given:
        return ChosenPipelines(tuple(given))
    reasons = {name: " ".join(checks.faults_of_pipeline(name)) for name in wiring.pipelines()}
    every = [name for name, reason in reasons.items() if not reason]
    named: list[str] = []
    for one in given or (ALL,):
        named += every if one == ALL else [one]
    left_out = {name: reason for name, reason in reasons.items() if reason and name not in named}
    return ChosenPipelines(tuple(dict.fromkeys(named)), left_out)
