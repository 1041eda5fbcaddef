"""Suggestions of entity names while somebody types a question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import zip_longest

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from search.models import Node, Release
from search.sentences.values import type_words
from search.services.knowledge.find_nodes import complete_name
from search.views.finding import find_knowledge_base
from search.views.form import askable
from search.views.unavailable import says_what_is_down

MOST_WORDS = 5
SHORTEST, SHORTEST_WHOLE = 3, 2
"""Letters from which on names are looked for: of a question's end, and of a field that holds a name alone."""
SUGGESTIONS_SHOWN = 6
MOST_BASES = 12
"""Most knowledge bases in which names are looked for while none is chosen."""
_WORD_START = re.compile(r"(?<!\S)\S")
MOST_LETTERS = 16
"""Letters at the end of a text without spaces from each of which names are looked for."""
_HAN = "\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = f"{_HAN}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af"
"""Chinese characters, and letters of other scripts whose words stand side by side or have particles behind them."""
_LETTER_START = re.compile(f"[{_UNSPACED}]|(?<=[{_UNSPACED}])[^\\s{_UNSPACED}]")
_SHORT = ((re.compile(f"[{_HAN}]"), 1), (re.compile(f"[{_UNSPACED}]"), 2))
"""Letters from which on names are looked for, by the script of the first: a Chinese character is a word."""


@require_safe
@says_what_is_down
def suggest(request: HttpRequest, name: str) -> HttpResponse:
    """Return names that start with the end of the text in `q`; `length` is the number of characters that they replace.

    The longest ending of at most five words with which a name starts is used: “Anna Ko” in “papers by Anna Ko”; in text
    without spaces it may start at any letter. With
    `whole`, the text is nothing but a name: names follow in which any word starts with it, “Anna Kobel” for “Kob”.
    """
    base = find_knowledge_base(request, name)
    text = request.GET.get("q", "")[-200:]
    complete = _whole if "whole" in request.GET else _completed
    return _answer(text, *((0, []) if base.active_release is None else complete(base.active_release, text)))


@require_safe
@says_what_is_down
def suggest_any(request: HttpRequest) -> HttpResponse:
    """Return the same from all knowledge bases that the caller may ask: of the longest ending that any of them has."""
    text = request.GET.get("q", "")[-200:]
    best, several = len(text), list[list[dict[str, str]]]()
    for base in askable(request).select_related("active_release__snapshot").order_by("name")[:MOST_BASES]:
        assert base.active_release is not None
        start, items = _completed(base.active_release, text)
        if items and start <= best:
            several = [*(several if start == best else []), items]
            best = start
    mixed = [item for row in zip_longest(*several) for item in row if item is not None]
    return _answer(text, best, mixed[:SUGGESTIONS_SHOWN])


def _answer(text: str, start: int, items: list[dict[str, str]]) -> JsonResponse:
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
    for start in _starts(text):
        ending = text[start:]
        least = next((few for script, few in _SHORT if script.match(ending)), SHORTEST)
        if len(ending.strip()) < least:
            continue
        # Only the start of a name may match: inside names, the ordinary words of a question would nearly always match.
        found = complete_name(release, ending, SUGGESTIONS_SHOWN, inside=False)
        if found and not (len(found) == 1 and found[0].name == ending):
            return start, _items(release, found)
    return len(text), []


def _starts(text: str) -> list[int]:
    """Return where a name at the end of a text may begin: at its last words, and inside text without spaces anywhere.

    A vowel or tone that is written on another letter begins nothing.
    """
    words = [match.start() for match in _WORD_START.finditer(text)][-MOST_WORDS:]
    letters = [match.start() for match in _LETTER_START.finditer(text, max(0, len(text) - MOST_LETTERS))]
    return sorted({at for at in (*words, *letters) if unicodedata.category(text[at]) not in ("Mn", "Mc")})
