"""Names of entities while somebody types a question."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from search.models import Release
from search.services.knowledge.find_nodes import complete_name
from search.views.finding import find_knowledge_base
from search.views.shown.wording import type_words
from search.views.unavailable import says_what_is_down

MOST_WORDS = 5
SHORTEST = 3
SUGGESTIONS_SHOWN = 6
_WORD_START = re.compile(r"(?<!\S)\S")


@require_safe
@says_what_is_down
def suggest(request: HttpRequest, name: str) -> HttpResponse:
    """Return names that go on as the text in `q` ends; `length` is how many characters of it they replace.

    The longest ending that some name starts with counts, five words at most: of “papers by Anna Ko” that is “Anna Ko”.
    """
    base = find_knowledge_base(request, name)
    text = request.GET.get("q", "")[-200:]
    start, items = (0, []) if base.active_release is None else _completed(base.active_release, text)
    answer = JsonResponse({"length": len(text) - start, "items": items})
    answer["Cache-Control"] = "private, max-age=60"
    return answer


def _completed(release: Release, text: str) -> tuple[int, list[dict[str, str]]]:
    types = release.snapshot.schema.node_types
    for match in list(_WORD_START.finditer(text))[-MOST_WORDS:]:
        ending = text[match.start() :]
        if len(ending.strip()) < SHORTEST:
            continue
        # Words within names are left out: the ordinary words of a question would bring up something all the time.
        found = complete_name(release, ending, SUGGESTIONS_SHOWN, inside=False)
        if found and not (len(found) == 1 and found[0].name == ending):
            return match.start(), [{"name": node.name, "type": type_words(types[node.type].name)} for node in found]
    return len(text), []
