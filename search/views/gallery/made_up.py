"""Made-up words and values of the gallery, and the pages of errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from django.http import HttpRequest

from search.domain.payloads import Traversals
from search.models import KnowledgeBase
from search.services.pipelines.list_pipelines import list_pipelines
from search.services.searches.verdict import told
from search.views.form import SearchBox
from search.views.shown.search import ShownSearch, show_search

Made = tuple[str, dict[str, Any]]
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
"""A word without a place to break, longer than a phone is wide."""
RIGHT_TO_LEFT = "محطة توليد الكهرباء الرئيسية للسفن البخارية"
_SEARCH = Path(__file__).with_name("search.json")


def made_up_box(question: str = "", knowledge_base: str = "films", **values: Any) -> SearchBox:
    """Return the question box with made-up knowledge bases: the gallery names none that somebody may not see."""
    bases = [KnowledgeBase(name=name, title=name.capitalize()) for name in ("films", "papers", "products")]
    return SearchBox(bases, list_pipelines(), knowledge_base, question, "grasp", **values)


def search(**changes: Any) -> dict[str, Any]:
    """Return a described search, as `describe_search` would, with some values changed."""
    described: dict[str, Any] = json.loads(_SEARCH.read_text(encoding="utf-8"))
    return described | changes


def shown(described: dict[str, Any], **changes: Any) -> ShownSearch:
    """Return a described search as its page shows it, with a verdict as every search gets it, then the changes."""
    answered = {"answer": {"kind": "list", "count": 0, "complete": False}} | described
    return show_search(answered | told(answered, Traversals(), None) | changes)


def renamed(described: dict[str, Any], word: str) -> dict[str, Any]:
    """Return a described search in which every name, snippet and text is one word."""
    changed = deepcopy(described)

    def rename(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if (
                    key in ("name", "text", "snippet", "question", "relevance_text")
                    and isinstance(inner, str)
                    and inner
                ):
                    value[key] = f"{word} {word}" if key in ("snippet", "question") else word
                else:
                    rename(inner)
        elif isinstance(value, list):
            for inner in value:
                rename(inner)

    for part in ("plan", "plans", "linked", "results"):
        rename(changed[part])
    return changed | {"question": f"{word} {word}?"}


def page(template: str, **context: Any) -> Callable[[HttpRequest], Made]:
    """Return a function that makes a page of a template and values that need no request."""
    return lambda request: (template, dict(context))


ERRORS: Mapping[str, tuple[str, Callable[[HttpRequest], Made]]] = {
    "400": ("A request that is not understood", page("400.html")),
    "403": ("Not allowed", page("403.html")),
    "404": ("Not there", page("404.html")),
    "500": ("An unexpected fault", page("500.html")),
    "unavailable": (
        "A service is down",
        page("search/unavailable.html", service="Postgres", reason="the database does not answer; try again soon."),
    ),
}
