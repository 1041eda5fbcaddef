"""Conditions that a follow-up takes back: *regardless of the price*, *any brand*, *all of them*."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from search.domain.plan import Exclusion, Plan
from search.language.words import stem, stems
from search.stages.plan.follow_up import edits
from search.stages.plan.follow_up.asked import Asked
from search.stages.plan.follow_up.change import Option
from search.stages.plan.follow_up.cues_of_type import field_words
from search.stages.plan.follow_up.ground import Ground
from search.text import words


def taken_back(plan: Plan, asked: Asked, ground: Ground) -> Iterator[Option]:
    """Yield the plans without the conditions that the words take back."""
    text = asked.text
    if asked.words.says("everything", text) and plan.order is not None and plan.order.limit is not None:
        yield Option(replace(plan, order=replace(plan.order, limit=None)), 0.0)
    for start, end in asked.backs:
        behind = text[end:].strip(" ?!.,")
        if not behind or any(name.mention.start <= start < name.mention.end for name in asked.names):
            continue
        said = stems(behind)
        without = _without(plan, said, ground)
        if without != plan:
            yield Option(without, 0.0)


def _without(plan: Plan, said: frozenset[str], ground: Ground) -> Plan:
    """Return the plan without every condition that the stems `said` name: by entity, type, relation or field."""
    for anchor in plan.anchors:
        rest = edits.without_anchor(plan, anchor.var)
        relations = {hop.rel for hop in plan.hops if hop not in rest.hops}
        if stems(anchor.text) <= said or said & _words_of(ground, anchor.label, relations):
            plan = rest
    named = {name for kind in ground.schema.node_types for name, own in field_words(kind).items() if own & said} | {
        one.field for one in plan.filters if stem(str(one.value)) in said
    }
    plan = replace(plan, filters=tuple(one for one in plan.filters if one.field not in named))
    kept = tuple(pattern for pattern in plan.exclude if not _named(pattern, said, ground))
    order = plan.order
    by_field = order is not None and isinstance(order.by, str) and order.by in named
    if by_field or said & stems("order sort ranking"):
        order = None
    return replace(plan, exclude=kept, order=order)


def _named(pattern: Exclusion, said: frozenset[str], ground: Ground) -> bool:
    """Whether stems name an exclusion, by an entity, a type or a relation of it."""
    relations = {hop.rel for hop in pattern.hops}
    return any(
        stems(anchor.text) <= said or said & _words_of(ground, anchor.label, relations) for anchor in pattern.anchors
    )


def _words_of(ground: Ground, label: str, relations: set[str]) -> frozenset[str]:
    """Return the stems of the names of a node type and of relations."""
    schema = ground.schema
    said = [words(name) for name in relations]
    if label in schema.type_codes:
        kind = schema.node_type(label)
        said += [words(kind.name), *kind.aliases]
    return frozenset().union(*(stems(one) for one in said))
