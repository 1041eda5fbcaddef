"""Removes conditions from plans; the words of a removed condition then count as text (new against GRASP)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby

from search.domain.graph import ANY
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.plan.parts import MAX_TEXT
from search.domain.trace import Limit
from search.plan_words import filter_words
from search.text import words

PlanPart = Anchor | Hop | Filter


@dataclass(frozen=True)
class DroppableCondition:
    """A part of a plan that can be dropped without disconnecting a hop.

    It is a filter, a hop that leads to no anchor ("has a review"), or an anchor with the hops that only it needs.
    `words` is the condition as text.
    """

    part: PlanPart
    words: str

    @property
    def shown(self) -> str:
        """The condition in words, for messages to people."""
        if isinstance(self.part, Anchor):
            name = f"“{self.part.text or ', '.join(self.part.ids[:3])}”"
            return name if self.part.label == ANY else f"{name} ({words(self.part.label)})"
        return f"“{self.words}”"


def conditions(plan: Plan) -> list[DroppableCondition]:
    """Return all conditions that can be dropped: filters, hops that lead to no anchor, anchors; in each the last first.

    Filters of edges are among the filters. This is the default order for dropping, because a filter only narrows the
    nodes that the walk found. A comparison that connects an anchor is dropped with the anchor. Exclusions are never
    dropped: what was to be left out would be found.
    """
    connecting = [one for anchor in plan.anchors for one in plan.chain(anchor.var)[1]]
    found = [DroppableCondition(part, filter_words(part.to_json())) for part in plan.filters if part not in connecting]
    found += [DroppableCondition(part, filter_words(part.to_json())) for hop in plan.hops for part in hop.where]
    found += [DroppableCondition(hop, _hop_words(hop)) for hop, _ in _loose_ends(plan)]
    found += [DroppableCondition(anchor, _anchor_words(plan, anchor)) for anchor in plan.anchors]
    order = (Filter, Hop, Anchor)
    return [c for kind in order for c in reversed(found) if isinstance(c.part, kind)]


def without(plan: Plan, dropped: Collection[DroppableCondition]) -> Plan:
    """Return the plan without these conditions; their words are added to its residual.

    Hops that only led from a dropped anchor are removed, and so are filters and exclusions on removed variables; an
    order that counted among the nodes of one counts all. If a dropped hop gave the target its type, the type is kept.
    """
    parts = [condition.part for condition in dropped]
    anchors = tuple(anchor for anchor in plan.anchors if anchor not in parts)
    held = {anchor.var for anchor in anchors} | {plan.target.var}
    held |= {end for hop, end in _loose_ends(plan) if hop not in parts}
    hops = _pruned([_less(hop, parts) for hop in plan.hops if hop not in parts], held)
    kept = {end for hop in hops for end in (hop.source, hop.to_var)} | held
    return replace(
        plan.within(kept),
        anchors=anchors,
        hops=tuple(hops),
        target=_target(plan, hops, dropped),
        filters=tuple(f for f in plan.filters if f not in parts and {f.var} | f.others <= kept),
        exclude=tuple(e for e in plan.exclude if plan.excluded(e).target.var in kept),
    )


def _less(hop: Hop, parts: Collection[PlanPart]) -> Hop:
    """Return a hop without those of its edge's conditions that are dropped."""
    return replace(hop, where=tuple(one for one in hop.where if one not in parts)) if hop.where else hop


def loosened(plan: Plan, hop: Hop) -> Plan:
    """Return the plan with any relation in the place of a hop's, whose words are added to the residual."""
    hops = tuple(replace(one, rel=ANY, direction=None, where=()) if one == hop else one for one in plan.hops)
    return replace(plan, hops=hops, target=_saying(plan.target, relation_words(hop)))


def smallest_first(
    certain: Sequence[DroppableCondition], others: Sequence[DroppableCondition], limit: Limit
) -> Iterator[tuple[DroppableCondition, ...]]:
    """Yield the sets of conditions to drop: the certain ones alone, then with one of the others, with two, and so on.

    At least one anchor of the others is always kept, because a plan needs an anchor; without anchors there is no set.

    Raises DeadlineExceeded and SearchCancelled: there are 2ⁿ sets of n conditions.
    """
    anchors = {id(condition) for condition in others if isinstance(condition.part, Anchor)}
    if not anchors:
        return
    for size in range(0 if certain else 1, len(others) + 1):
        for chosen in combinations(others, size):
            limit.check("recover")
            if anchors - {id(condition) for condition in chosen}:
                yield (*certain, *chosen)


def _pruned(hops: list[Hop], held: Collection[str]) -> list[Hop]:
    """Return the hops without those that end at a variable which is not held and has no other hop, repeatedly."""
    while True:
        ends = Counter(end for hop in hops for end in (hop.source, hop.to_var))
        kept = [hop for hop in hops if all(ends[end] > 1 or end in held for end in (hop.source, hop.to_var))]
        if len(kept) == len(hops):
            return kept
        hops = kept


def _loose_ends(plan: Plan) -> list[tuple[Hop, str]]:
    """Return (hop, variable) for each hop that ends at a variable with no other hop, neither anchor nor target."""
    held = {anchor.var for anchor in plan.anchors} | {plan.target.var}
    ends = Counter(end for hop in plan.hops for end in (hop.source, hop.to_var))
    return [(hop, end) for hop in plan.hops for end in (hop.source, hop.to_var) if ends[end] == 1 and end not in held]


def _target(plan: Plan, hops: Sequence[Hop], dropped: Collection[DroppableCondition]) -> Target:
    labels = plan.target.labels
    given = [hop for hop in plan.hops if hop.to_var == plan.target.var and hop.to_label != ANY]
    if not labels and given and not any(hop in hops for hop in given):
        labels = (given[0].to_label,)
    return _saying(replace(plan.target, labels=labels), *(c.words for c in dropped))


def _saying(target: Target, *said: str) -> Target:
    """Return the target with further words in its residual."""
    several = dict.fromkeys(text for text in (target.relevance_text, *said) if text)
    return replace(target, relevance_text=", ".join(several)[:MAX_TEXT])


def _anchor_words(plan: Plan, anchor: Anchor) -> str:
    """Return the relations that only this anchor needs, from the target outwards, and its text: `by brand Ostervik`.

    A relation that is walked there and back is said once.
    """
    others = {hop for other in plan.anchors if other != anchor for hop in plan.branch(other.var).hops}
    own = [hop for hop in plan.branch(anchor.var).hops if hop not in others]
    said = [words for words, _ in groupby(map(relation_words, reversed(own)))]
    return " ".join(filter(None, [*said, anchor.text]))


def _hop_words(hop: Hop) -> str:
    return f"{relation_words(hop)} {'' if hop.to_label == ANY else words(hop.to_label)}".strip() or "any relation"


def relation_words(hop: Hop) -> str:
    """Return the words of a hop's relation; an empty text for any relation."""
    return "" if hop.rel == ANY else words(hop.rel)
