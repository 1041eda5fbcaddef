"""The sentences that nothing meets the conditions of a plan, and what was looked up instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.plan_words import Relations
from search.sentences.reading import conditions_of, exclusions, name_words, named_conditions

Json = Mapping[str, Any]


def nothing_words(plan: Json, relations: Relations) -> str:
    """Return the sentence that nothing meets all conditions of a plan: `No product with price under 50 both … and …`.

    Each name is a condition in the words of its relations, each exclusion is another one.
    """
    kind, parts, excluded, named = conditions_of(plan, relations)
    parts = [*parts, *excluded]
    if named:
        return f"{named} is no {kind}{' that ' if parts else ''}{' and '.join(parts)}."
    if len(parts) < 2:
        known = [kind, *parts] if parts or plan.get("filters") else []
        return f"No {' '.join(known)}." if known else "Nothing here meets the question."
    both = "both " if len(parts) == 2 else ""
    return f"No {kind} {both}{', '.join(parts[:-1])} and {parts[-1]}."


def looked_at_words(plan: Json, relations: Relations, *, found: bool) -> str:
    """Return the sentence on what a plan looked up of a name, where it is not the answer; empty if it has no name."""
    goal = plan["target"].get("var", "T")
    named = [anchor for anchor in plan["anchors"] if anchor["var"] == goal]
    parts = [*(one.words for one in named_conditions(plan, relations)), *exclusions(plan, relations)]
    if not named or not parts:
        return ""
    return f"We checked whether {name_words(named[0], relations)} {' and '.join(parts)}: {'yes' if found else 'no'}."
