"""answer_of: the answer that a search's plan gives, apart from the ranking: a list, a number, yes, no, or not known."""

from __future__ import annotations

from typing import Any

from search.domain.payloads import Links, Plans, Traversals


def answer_of(plans: Plans, links: Links, found: Traversals, index: int | None) -> dict[str, Any]:
    """Return `{"kind", "value"?, "count", "complete"}` for the shown plan.

    `count` is the number of answers of the plan. `complete` says that the plan was executed to its end with every
    anchor bound, so that there are no further answers. A plan that was changed because it found nothing has no answer
    itself: then a number is 0 and yes or no is no. `value` is given where the plan asks for a number.
    """
    if index is None:
        return {"kind": "list", "count": 0, "complete": False}
    entry = plans.entries[index]
    traversal = next((one for one in found.entries if one.plan_index == index), None)
    bound = index < len(links.plans) and all(anchor.bindings for anchor in links.plans[index])
    complete = traversal is not None and not traversal.truncated and bound
    # The plan that was asked for found nothing; what was found belongs to the changed plan.
    count = 0 if traversal is None or entry.given is not None else traversal.listed.total
    ask = entry.plan.ask
    if ask == "how many":
        kind = "number" if traversal is not None and (bound or count) else "unknown"
        value = {"value": count} if kind == "number" else {}
        return {"kind": kind, **value, "count": count, "complete": complete}
    if ask == "whether":
        kind = "yes" if count else "no" if complete else "unknown"
        return {"kind": kind, "count": count, "complete": complete}
    return {"kind": "list", "count": count, "complete": complete}
