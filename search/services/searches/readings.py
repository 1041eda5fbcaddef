"""readings: the meanings of a question that a search asks back about, where others than the shown one are likely."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from search.domain.payloads import Traversals, Traversed
from search.domain.verdict import VerdictReading, offered
from search.plan_words import Relations
from search.sentences.reading import reading_words
from search.services.searches.answer_line import is_bare

Json = Mapping[str, Any]


def readings(search: Json, found: Traversals, relations: Relations) -> list[dict[str, Any]]:
    """Return the readings to choose from, the shown one first: `sentence`, `plan`, `plan_index`.

    `found` are the executed plans. Nothing is returned where the shown plan is clearly likelier or was given, or where
    the sentences do not tell the readings apart.
    """
    plans, index = search["plans"], search["plan_index"]
    if index is None or plans[index]["source"] == "user" or plans[index].get("given"):
        return []
    # A reading that leaves words over is no better than the shown one.
    likely = [
        VerdictReading(
            one.plan_index, plans[one.plan_index]["probability"], _answer(plans[one.plan_index]["plan"], one)
        )
        for one in found.entries
        if one.plan_index == index or (one.listed.total and _is_whole(plans[one.plan_index]))
    ]
    asked = offered(likely, index, bare=is_bare(plans[index]["plan"]))
    # Of two readings with the same sentence the more probable one is kept.
    choices = {reading_words(plans[at]["plan"], relations): at for at in reversed(asked)}
    if len(choices) < 2:
        return []
    ordered = sorted(choices.items(), key=lambda one: asked.index(one[1]))
    return [{"sentence": said, "plan": plans[at]["plan"], "plan_index": at} for said, at in ordered]


def _answer(plan: Json, found: Traversed) -> Hashable:
    """Return a value that is equal for plans with the same answer."""
    asks = plan.get("ask", "which")
    computes = asks if asks not in ("which", "how many") else ""
    return frozenset(found.listed.ids), found.listed.total, computes, plan.get("show")


def _is_whole(entry: Json) -> bool:
    return not entry.get("given") and not entry["plan"]["target"].get("relevance_text")
