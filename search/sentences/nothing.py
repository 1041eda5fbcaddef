"""The sentences that nothing meets the conditions of a plan, and what was looked up instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

<<<<<<< HEAD
from search.domain.graph import Relation
from search.sentences.reading import conditions_of, exclusions, name_words, named_conditions
=======
from search.domain.graph import ANY, OPPOSITE, Relation
from search.domain.plan.routes import routes
from search.plan_words import anchor_words, compared_only, exclusion_words, filter_words, variables_of, where_words
from search.sentences.values import type_words
from search.text import words
>>>>>>> edges

Json = Mapping[str, Any]


def nothing_words(plan: Json, relations: Mapping[str, Relation]) -> str:
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


def looked_at_words(plan: Json, relations: Mapping[str, Relation], *, found: bool) -> str:
    """Return the sentence on what a plan looked up of a name, where it is not the answer; empty if it has no name."""
    goal = plan["target"].get("var", "T")
    named = [anchor for anchor in plan["anchors"] if anchor["var"] == goal]
    parts = [*(one.words for one in named_conditions(plan, relations)), *exclusions(plan, relations)]
    if not named or not parts:
        return ""
<<<<<<< HEAD
    return f"Looked at was whether {name_words(named[0], relations)} {' and '.join(parts)}: {'yes' if found else 'no'}."
=======
    return f"Looked at was whether {_name(named[0])} {' and '.join(parts)}: {'yes' if found else 'no'}."


def named_conditions(plan: Json, relations: Mapping[str, Relation]) -> Iterator[NamedCondition]:
    """Yield what each name asks of an answer, from the answer outwards: `works at an institution that is in “X”`."""
    goal = plan["target"].get("var", "T")
    hops = plan["hops"]
    types = {hop["to_var"]: hop["to_label"] for hop in hops}
    reached = routes([(hop["from"], hop["to_var"]) for hop in hops], goal)
    apart = compared_only(plan)
    for anchor in plan["anchors"]:
        if anchor["var"] in apart:
            # The filter that compares with it says it.
            continue
        said: list[str] = []
        legs = reached.get(anchor["var"], ())
        for leg in legs:
            hop = hops[leg.hop]
            said.append(_relation(hop, relations, turned=leg.turned) + where_words(hop))
            if leg.there != anchor["var"]:
                label = types.get(leg.there, ANY)
                said.append(f"{'something' if label == ANY else _one(type_words(label))} that")
        if anchor["var"] != goal:
            told = " ".join([*said, _name(anchor)]) if said else f"is {_name(anchor)}"
            yield NamedCondition(told, anchor["var"], tuple(leg.hop for leg in legs))


def _name(anchor: Json) -> str:
    return anchor_words(anchor) if anchor.get("plan") else f"“{anchor_words(anchor)}”"


def _relation(hop: Json, relations: Mapping[str, Relation], *, turned: bool) -> str:
    """Return the relation of a hop as it is read from its near end; `turned` walks it from its written end."""
    stored = hop.get("direction")
    way = stored if stored is None or not turned else OPPOSITE[stored]
    relation = relations.get(hop["rel"])
    if relation is None:
        return words(hop["rel"])
    wording = relation.inverse if way == "in" else relation.description
    return wording or words(hop["rel"])


def _of_filters(plan: Json, relations: Mapping[str, Relation]) -> Iterator[str]:
    goal = plan["target"].get("var", "T")
    # A node in between is called by its type.
    between = {end: "something" for hop in plan["hops"] for end in (hop["from"], hop["to_var"])}
    between |= {hop["to_var"]: f"the {type_words(hop['to_label'])}" for hop in plan["hops"] if hop["to_label"] != ANY}
    named = {anchor["var"]: anchor_words(anchor) for anchor in plan["anchors"]}
    variables = variables_of(plan) | between | named
    for condition in plan.get("filters") or ():
        whose = "" if condition["var"] == goal else variables.get(condition["var"], condition["var"])
        yield filter_words(condition, whose, variables, relations)


def _of_exclusions(plan: Json, relations: Mapping[str, Relation]) -> Iterator[str]:
    variables = variables_of(plan)
    for pattern in plan.get("exclude") or ():
        yield f"not “{exclusion_words(pattern, variables, relations)}”"


def _one(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
>>>>>>> edges
