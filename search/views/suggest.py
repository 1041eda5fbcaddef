"""Suggestions of entity names while somebody types a question."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from search.models import Node, Release
from search.services.knowledge.find_nodes import complete_name
from search.views.finding import find_knowledge_base
from search.views.shown.wording import type_words
from search.views.unavailable import says_what_is_down

MOST_WORDS = 5
SHORTEST, SHORTEST_WHOLE = 3, 2
"""Letters from which on names are looked for: of a question's end, and of a field that holds a name alone."""
SUGGESTIONS_SHOWN = 6
_WORD_START = re.compile(r"(?<!\S)\S")


@require_safe
@says_what_is_down
def suggest(request: HttpRequest, name: str) -> HttpResponse:
    """Return names that start with the end of the text in `q`; `length` is the number of characters that they replace.

    The longest ending of at most five words with which a name starts is used: “Anna Ko” in “papers by Anna Ko”. With
    `whole`, the text is nothing but a name: names follow in which any word starts with it, “Anna Kobel” for “Kob”.
    """
    base = find_knowledge_base(request, name)
    text = request.GET.get("q", "")[-200:]
    complete = _whole if "whole" in request.GET else _completed
    start, items = (0, []) if base.active_release is None else complete(base.active_release, text)
    answer = JsonResponse({"length": len(text) - start, "items": items})
    answer["Cache-Control"] = "private, max-age=60"
    return answer


def _whole(release: Release, text: str) -> tuple[int, list[dict[str, str]]]:
    if len(text.strip()) < SHORTEST_WHOLE:
        return len(text), []
    found = complete_name(release, text, SUGGESTIONS_SHOWN)
    done = len(found) == 1 and found[0].name == text
    return (len(text), []) if done or not found else (0, _items(release, found))


def _items(release: Release, found: Iterable[Node]) -> list[dict[str, str]]:
    types = release.snapshot.schema.node_types
    return [{"name": node.name, "type": type_words(types[node.type].name)} for node in found]


def _completed(release: Release, text: str) -> tuple[int, list[dict[str, str]]]:
    for match in list(_WORD_START.finditer(text))[-MOST_WORDS:]:
        ending = text[match.start() :]
        if len(ending.strip()) < SHORTEST:
            continue
        # Only the start of a name may match: inside names, the ordinary words of a question would nearly always match.
        found = complete_name(release, ending, SUGGESTIONS_SHOWN, inside=False)
        if found and not (len(found) == 1 and found[0].name == ending):
            return match.start(), _items(release, found)
    return len(text), []
