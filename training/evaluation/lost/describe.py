"""Describes where the expected answers of a search were lost: the rules applied to its facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from search.domain.ranking import RECORDED_ENTRIES
from search.domain.trace import LIST_ROLES
from training.evaluation.lost.attribution import (
    AnswerFate,
    Attribution,
    FoundNode,
    ListCoverage,
    Loss,
    PossiblePlan,
)
from training.evaluation.lost.facts import Held, RunFacts
from training.evaluation.lost.rules import closest, first_loss
from training.evaluation.lost.stages import LostStage

MOST_ANSWERS = 20
"""Number of expected answers whose fate is kept; a question may have thousands."""


def described(
    facts: RunFacts,
    k: int,
    found: tuple[FoundNode, ...] = (),
    plan: PossiblePlan | None = None,
    no_plan: str = "",
) -> Attribution:
    """Return where the expected answers of a search were lost, with its first results and the plan that finds them."""
    losses = {answer: first_loss(facts, answer, k) for answer in facts.expected}
    lost = Counter(loss.stage for loss in losses.values() if loss is not None)
    order = sorted(facts.expected, key=lambda answer: losses[answer] is None)
    return Attribution(
        k,
        len(facts.expected),
        _not_first(facts, losses),
        {stage: lost[stage] for stage in LostStage if lost[stage]},
        tuple(_fate(facts, answer, losses[answer]) for answer in order[:MOST_ANSWERS]),
        found,
        tuple(
            ListCoverage(
                held.name,
                role,
                sum(place <= k for place in held.places.values()),
                sum(rank <= RECORDED_ENTRIES for rank in held.ranks.values()),
                held.size,
            )
            for role, held in _lists(facts)
        ),
        plan,
        no_plan,
    )


def _not_first(facts: RunFacts, losses: dict[str, Loss | None]) -> Loss | None:
    """Return why no expected answer stands first; None if one does."""
    if 1 in facts.answer.ranks.values():
        return None
    best = closest(facts, losses)
    return first_loss(facts, best, 1)


def _fate(facts: RunFacts, answer: str, loss: Loss | None) -> AnswerFate:
    ranks = {held.name: held.ranks.get(answer) for _, held in _lists(facts)}
    plans = facts.graph.plans if facts.graph else ()
    return AnswerFate(
        answer, facts.names.get(answer, ""), facts.types.get(answer, ""), facts.answer.ranks.get(answer), loss, ranks,
        tuple(plan.index for plan in plans if answer in plan.reaches),
    )  # fmt: skip


def _lists(facts: RunFacts) -> Iterator[tuple[str, Held]]:
    """Yield every list once, with the role of its step; the lists that a fusion combines are outputs of other steps."""
    for step in facts.steps:
        if step.role in LIST_ROLES:
            yield from ((step.role, held) for held in step.inputs)
        yield step.role, step.output
