"""The words that pages use for steps, states, risk levels and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.domain.graph import ANY
from search.text import words

STEPS: Mapping[str, tuple[str, str]] = {
    "plan": ("Plan", "Reading the question as walks through the graph"),
    "link": ("Link", "Tying the names in the question to entities"),
    "traverse": ("Traverse", "Following the relations"),
    "recover": ("Recover", "Changing the plan until it finds something"),
    "rescore": ("Rescore", "Putting what the plans found into one list"),
    "retrieve": ("Retrieve", "Searching the documents"),
    "bm25": ("Words", "Searching for the words of the question"),
    "vss": ("Vectors", "Searching by meaning"),
    "fuse": ("Fuse", "Adding up the lists"),
    "check": ("Check", "Holding the results against the conditions"),
    "rerank": ("Rerank", "Reading the best results again"),
    "explain": ("Explain", "Drawing the paths of what is shown"),
}
"""Title and present participle of each step, in the order of flow."""

RECOVERY = "recover"
"""Steps of this name say, each in a sentence, what was changed about a plan that found nothing."""

LISTS: Mapping[str, str] = {
    "graph": "Graph paths",
    "text": "Document text",
    "bm25": "Words (BM25)",
    "vss": "Vectors",
    "rerank": "Reranker",
}

RISKS: Mapping[str, str] = {
    "no_trade": "The graph is not trusted here: the text decides alone.",
    "weak": "The plan is doubtful: paths count little beside the text.",
    "normal": "The plan is plausible: paths count as much as their number suggests.",
    "aggressive": "The plan is clear: paths go first.",
}

SOURCES: Mapping[str, str] = {
    "schema": "found from the schema alone",
    "llm": "written by a language model",
    "learned": "chosen by the trained planner",
    "user": "given with the question",
}


def step_title(name: str) -> str:
    """Return what a step is called on pages."""
    return STEPS[name][0] if name in STEPS else words(name).capitalize()


def step_doing(name: str) -> str:
    """Return what a step does while it runs."""
    return STEPS[name][1] if name in STEPS else words(name).capitalize()


def list_title(name: str) -> str:
    """Return what a list of the fusion is called on pages."""
    return LISTS.get(name, words(name).capitalize())


def type_words(label: str) -> str:
    """Return a node type as words; any type is `anything`."""
    return "anything" if label in (ANY, "") else words(label)


def relation_words(name: str) -> str:
    """Return a relation as words; any relation is `any relation`."""
    return "any relation" if name in (ANY, "") else words(name)


def value_text(value: Any) -> str:
    """Return a filter's value as text."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
