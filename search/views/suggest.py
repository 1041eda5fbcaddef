"""Suggestions of entity names while somebody types a question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from search.models import Node, Release
from search.sentences.values import type_words
from search.services.knowledge.find_nodes import complete_name
from search.views.finding import find_knowledge_base
from search.views.unavailable import says_what_is_down

MOST_WORDS = 5
SHORTEST, SHORTEST_WHOLE = 3, 2
"""Letters from which on names are looked for: of a question's end, and of a field that holds a name alone."""
SUGGESTIONS_SHOWN = 6
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
