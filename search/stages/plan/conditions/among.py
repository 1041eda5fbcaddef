"""What is counted of an answer: all its nodes over a relation, or those alone that the rest of the plan selects.

*Brands with more than two products made of wool* counts products of wool. So does a count of what a name or a condition
selects before the answers are reached: the walk to them goes over the counted nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from search.domain.graph import Direction
from search.domain.plan import Count, Hop
from search.language.cues import Span
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.write import TARGET

_CLAUSE = re.compile(r"[,;]|\b(?:and|who|that|which|und|die|der|das|et|qui|y|que)\b", re.IGNORECASE)
"""What begins a clause of its own: *who published in Outbreak and wrote more than five papers* counts all papers."""


def on_the_way(core: Core, relation: int, way: Direction, far: int) -> tuple[int, str] | None:
    """Return the place of the branch that reaches the answers from the counted nodes, and the variable of these.

    `relation` leads from the answers in the direction `way` to nodes of the type `far`. None if no branch walks it.
    """
    mutual = core.knowledge.schema.relations[relation].mutual
    for place, path in enumerate(core.candidate.paths):
        *before, last = path.steps
        reached = last.relation == relation and (mutual or last.direction != way)
        if before and reached and before[-1].to_type == far:
            return place, f"x{place + 1}{len(before)}"
    return None


def names_counted(core: Core, place: int, counted: Span) -> bool:
    """Whether the counted words name where a branch starts: *more than three backpacks* counts what is in Backpacks."""
    mention = core.question.names[core.candidate.mentions[place]].mention
    return counted[0] <= mention.start < counted[1]


def of_its_own(core: Core, place: int, cue: Span) -> bool:
    """Whether a count stands in a clause of its own, behind the name that its branch starts from.

    *At X, which author had the most papers* puts first where the papers are; what follows is no clause of its own.
    """
    mention = core.question.names[core.candidate.mentions[place]].mention
    if cue[0] < mention.end:
        return False
    between = core.question.text[mention.end : cue[0]]
    before = [word.content for word in core.question.said if word.start < mention.start]
    fronted = bool(before) and not any(before) and between.lstrip().startswith(",")
    return not fronted and _CLAUSE.search(between) is not None


def counting_selected(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions of a reading, a count of nodes to which another one leads as a count of those alone."""
    hops = [hop for one in conditions for hop in one.hops]
    return tuple(_counting(one, hops) for one in conditions)


def _counting(condition: Condition, hops: Iterable[Hop]) -> Condition:
    order, filters = condition.order, condition.filters
    if order is not None and isinstance(order.by, Count):
        order = replace(order, by=_selected(order.by, hops))
    filters = tuple(replace(one, count=_selected(one.count, hops)) if one.count else one for one in filters)
    return condition if (order, filters) == (condition.order, condition.filters) else replace(
        condition, order=order, filters=filters
    )  # fmt: skip


def _selected(count: Count, hops: Iterable[Hop]) -> Count:
    wanted = (TARGET, count.rel, count.direction)
    hop = next((one for one in hops if (one.source, one.rel, one.direction) == wanted), None)
    return count if count.among or hop is None else replace(count, among=hop.to_var)
