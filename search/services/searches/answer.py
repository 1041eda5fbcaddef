"""answer_of: the answer that a search's plan gives, apart from the ranking.

It is a list, a number, an aggregate, yes, no, or not known.
"""

from __future__ import annotations

from typing import Any

from search.domain.aggregates import Aggregated
from search.domain.payloads import Links, Plans, Traversals
from search.domain.plan import Ask, Plan


def answer_of(
    plans: Plans, links: Links, found: Traversals, index: int | None, asked: Links | None = None
) -> dict[str, Any]:
    """Return `{"kind", "value"?, "aggregate"?, "count", "complete", "unbound"?, "field"?, "text"?}` for the shown plan.

    `count` is the number of answers of the plan. `complete` says that the plan was executed to its end with every
    anchor bound, so that all answers are counted, also those that are not listed. A plan that was changed because it
    found nothing has no answer itself: then a number is 0 and yes or no is no. `value` is given where the plan asks for
    a number, and `aggregate` where it asks for one computed from a field of all answers: `{"function", "field",
    "value", "nodes"}`, in which `nodes` is the number of answers that have the field, and `value` null if none has it.

    `asked` are the bindings before the plan was changed, `links` if none was. `unbound` are the texts of the entities
    that the knowledge base does not know; without them neither a number nor a no is certain. `field` is the field whose
    values are asked for. Where words of a yes-or-no question were not understood, the answer is not known.

    `text` are the words that no condition of the plan says: only the texts of the nodes can say them, so the count is
    that of the nodes that may be answers.
    """
    if index is None:
        return {"kind": "list", "count": 0, "complete": False}
    entry = plans.entries[index]
    traversal = next((one for one in found.entries if one.plan_index == index), None)
    unbound = _unbound(entry.given or entry.plan, asked or links, index)
    bound = index < len(links.plans) and all(anchor.bindings for anchor in links.plans[index]) and not unbound
    complete = traversal is not None and (not traversal.truncated or traversal.unlisted > 0) and bound
    # The plan that was asked for found nothing; what was found belongs to the changed plan.
    count = 0 if traversal is None or entry.given is not None else traversal.listed.total
    computed = traversal.aggregate if traversal is not None and entry.given is None else None
    if computed is not None:
        # It was computed from all answers, of which not all need to be among the candidates.
        count, complete = computed.answers, computed.complete and bound
    # What no part of the plan says was not looked up: neither yes nor no is certain then.
    left = (entry.given or entry.plan).target.relevance_text
    known = traversal is not None and bound
    kind = _kind(entry.plan.ask, count, complete, known) if entry.plan.ask != "whether" or not left else "unknown"
    if entry.plan.aggregate and (computed is not None or (complete and not count)):
        kind = "aggregate"
    answer: dict[str, Any] = {"kind": kind}
    answer |= {"value": count} if answer["kind"] == "number" else {}
    answer |= {"aggregate": _aggregate(entry.plan, computed)} if answer["kind"] == "aggregate" else {}
    answer |= {"count": count, "complete": complete}
    answer |= {"field": entry.plan.show} if entry.plan.show and entry.given is None else {}
    answer |= {"text": left} if left and count and kind in ("list", "number", "aggregate") else {}
    return answer | ({"unbound": unbound} if unbound else {})


def _kind(ask: Ask, count: int, complete: bool, bound: bool) -> str:
    if ask == "how many":
        return "number" if bound or count else "unknown"
    if ask == "whether":
        return "yes" if count else "no" if complete else "unknown"
    return "list" if ask == "which" else "unknown"


def _aggregate(plan: Plan, computed: Aggregated | None) -> dict[str, Any]:
    """Return what the plan asks to compute; without any answer there is no value."""
    one = {"function": plan.ask, "field": plan.show}
    return one | {"value": computed.value if computed else None, "nodes": computed.nodes if computed else 0}


def _unbound(plan: Plan, links: Links, index: int) -> list[str]:
    """Return the texts of the anchors, also those of exclusions, that are bound to no node."""
    own = links.plans[index] if index < len(links.plans) else ()
    unknown = {(anchor.exclude, anchor.anchor) for anchor in own if not anchor.bindings}
    return [anchor.text or ", ".join(anchor.ids) for at, anchor in plan.all_anchors if (at, anchor.var) in unknown]
