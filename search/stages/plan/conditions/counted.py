"""What is said of the nodes that a count counts: `the most inherited diseases`, `the most papers at a workshop`.

Values of fields and participles behind the cue that mean nothing for the answers are bound to the counted nodes as they
would be to answers; a hop leads there from the answer, and the count is made among them alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from search.domain.graph import DIRECTIONS
from search.domain.plan import Count, Filter, Hop
from search.language.cues import Span
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.having import having
from search.stages.plan.conditions.values import values_of
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.write import TARGET

_FIT = 0.9
"""Factor of what is said of the counted nodes, and not of the answers."""
_CLAUSE = re.compile(r"[,;]|\b(?:and|und|et|y)\b", re.IGNORECASE)
"""What ends the description of the counted nodes: *with the most papers and from Norway*."""


@dataclass(frozen=True)
class _Counted:
    """What a cue counts: the cue, where its words end, the count, and the code of the counted type."""

    cue: Span
    end: int
    count: Count
    code: int


def said_of_counted(core: Core, several: Sequence[Sequence[Condition]]) -> Iterator[list[Condition]]:
    """Yield the meanings, for counted nodes, of what means nothing for the answers; `several` are those that do."""
    taken = [span for meanings in several for one in meanings[:1] for span in (one.cue, *one.spans)]
    for counted in _counted(core, several):
        for meanings in _of_type(core, counted.code):
            begins, ends = meanings[0].cue
            inside = counted.cue[0] <= begins < counted.end
            behind = counted.end <= begins and not _CLAUSE.search(core.question.text[counted.end : begins])
            met = any(start < ends and begins < end for start, end in taken if (start, end) != counted.cue)
            if (inside or behind) and not met:
                yield [_led_to(one, counted) for one in meanings]


def _counted(core: Core, several: Sequence[Sequence[Condition]]) -> Iterator[_Counted]:
    for meanings in several:
        for one in meanings[:1]:
            order = [one.order.by] if one.order is not None else []
            count = next((by for by in (*order, *(f.count for f in one.filters)) if isinstance(by, Count)), None)
            if count is not None and not count.among and (code := _far(core, count)) is not None:
                yield _Counted(one.cue, max(end for _, end in (one.cue, *one.spans)), count, code)


def _far(core: Core, count: Count) -> int | None:
    """Return the code of the type that a count counts; None if there are several."""
    known = core.knowledge
    relation = known.schema.relation_codes.get(count.rel)
    if relation is None:
        return None
    if count.to_label in known.schema.type_codes:
        return known.schema.type_codes[count.to_label]
    ways = DIRECTIONS if count.direction is None else (count.direction,)
    ends = {code for way in ways for code in known.shape.far_ends(core.type_code, relation, way)}
    return next(iter(ends)) if len(ends) == 1 else None


def _of_type(core: Core, code: int) -> Iterator[list[Condition]]:
    """Yield what the question says of nodes of a type as if these were asked for, without values of the answers."""
    kinds = core.knowledge.schema.node_types
    own = {core.kind.name, *(kinds[inner].name for _, inner in core.variables)}
    asked = Core(core.question, PlanCandidate((), (), (), (code,), kinds[code].count), core.knowledge)
    for meanings in values_of(asked):
        kept = [one for one in meanings if not any(_type_of(asked, one, f) in own for f in one.filters)]
        if kept and not kept[0].turning:
            yield kept
    yield from having(asked)


def _type_of(core: Core, condition: Condition, held: Filter) -> str:
    """Return the name of the type whose field a filter is about."""
    for one in core.question.values:
        if (one.start, one.end) == condition.cue and one.field == held.field and one.value == held.value:
            return one.node_type
    return ""


def _led_to(condition: Condition, counted: _Counted) -> Condition:
    """Return a condition on the counted nodes, with the hop that leads to them from an answer."""
    var, count = f"c{counted.cue[0]}", counted.count
    hop = Hop(TARGET, count.rel, var, count.to_label, count.direction)
    return replace(
        condition,
        score=condition.score * _FIT,
        filters=tuple(replace(one, var=var) if one.var == TARGET else one for one in condition.filters),
        hops=(hop, *(replace(one, source=var) if one.source == TARGET else one for one in condition.hops)),
    )
