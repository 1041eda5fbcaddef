"""The titles of signals on pages, in plain English."""

from __future__ import annotations

import math
from collections.abc import Mapping

from search.fields.names import title as title_of_list
from search.text import words

_OF_LISTS = {
    "score": "Score in the list {}",
    "relative": "Score in the list {}, as a part of the best one's",
    "rank": "Rank in the list {}",
    "rank in type": "Rank among those of its type in the list {}",
}
_SEEDS = {
    "named": "entities that the question names",
    "words": "documents that share the question's words",
    "vectors": "documents with a similar meaning",
}
_NEAR = {
    "best at 1 hop": "Best of its neighbours among the {}",
    "sum at 1 hop": "How many of its neighbours are {}",
    "best at 2 hops": "Best within two steps among the {}",
    "sum at 2 hops": "Paths of two steps to {}",
}
_ENDS = {"out": "from it", "in": "to it"}
_OTHERS = {
    "lists": "Number of lists that hold it",
    "lists:place": "Its place by all lists together",
    "degree": "Number of its relations",
    "named:itself": "The question names it",
    "degree:place": "Its place among its type by the number of relations",
    "names at 1 hop": "Names of the question among its neighbours",
    "names at 2 hops": "Names of the question within two steps",
    "plan:probability": "Probability of the plans that found it",
    "plan:share": "Largest share of one plan in its place",
    "plan:whole": "It meets the whole plan",
    "plan:conditions": "Part of the plan's conditions that it meets",
    "plan:unmet": "Number of conditions that it does not meet",
    "plan:trust": "Probability of the best plan",
    "plan:risk": "How strongly the plan counts",
    "plan:found": "Number of entities that the best plan found",
    "plan:leads": "The graph's order was kept",
    "type:probability": "Probability that the question asks for its type",
    "type:place": "Place of its type among the types that the question may ask for",
    "words:score": "Words that it shares with the question (BM25)",
    "words:best score at 1 hop": "Words that its best neighbour shares with the question (BM25)",
    "words:covered": "Part of the question's words that it has",
    "words:covered by neighbours": "Part of the question's words that its neighbours have",
    "words:covered by both": "Part of the question's words that it or its neighbours have",
}
FUSED_TITLE = "Joined list"


def signal_title(name: str, lists: Mapping[str, str] | None = None) -> str:
    """Return the title of a signal; `lists` holds titles of lists by name, those of fields have their own.

    A name that this code does not know, as a signal of an older version, is its own title.
    """
    if name in _OTHERS:
        return _OTHERS[name]
    kind, _, rest = name.partition(":")
    if kind == "list":
        listed, _, what = rest.rpartition(":")
        own = FUSED_TITLE if listed == "fused" else title_of_list(listed)
        title = (lists or {}).get(listed) or own or listed
        return _OF_LISTS[what].format(title) if what in _OF_LISTS else name
    if kind == "is":
        return f"It is a {words(rest)}"
    if kind == "edges":
        return f"Number of its relations “{words(rest.rpartition(':')[0])}”, {_ENDS.get(rest.rpartition(':')[2], rest)}"
    if kind in _SEEDS and rest in _NEAR:
        return _NEAR[rest].format(_SEEDS[kind])
    return name


def signal_value(name: str, value: float | None) -> str:
    """Return the value of a signal for people; ranks and numbers, which are stored as logarithms, are whole again."""
    if value is None:
        return "–"
    if (name.startswith("list:") and name.endswith((":rank", ":rank in type"))) or name in (
        "degree:place",
        "lists:place",
    ):
        return f"{math.exp(value):.0f}"
    if name in ("degree", "plan:found") or name.startswith("edges:"):
        return f"{math.expm1(value):,.0f}"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"
