"""Files of a collection: CSV, JSON lines, BibTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

import orjson
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.downloads import csv_answer, export_answer
from search.models import CollectionItem
from search.services.access.visitor_cookie import visitor_of
from search.services.collections.collections import readable_items
from search.services.collections.export_collection import bibliography_of, objects_of, rows_of
from search.views.collections import FORMATS, collection_of_link, own_collection
from search.views.unavailable import says_what_is_down

NAME_LENGTH = 80
"""Most characters of a collection's name in the name of its file."""


@require_safe
@never_cache
@says_what_is_down
def export(request: HttpRequest, kind: str, collection_id: UUID | None = None, key: str = "") -> HttpResponseBase:
    """Return a collection as a file: `csv`, `jsonl` or `bib`, with the items that the reader may see."""
    found = own_collection(request, collection_id) if collection_id is not None else collection_of_link(key)
    items = readable_items(found, request.user, visitor_of(request)).select_related(
        "knowledge_base__active_release__snapshot"
    )
    name = f"{slugify(found.name, allow_unicode=True)[:NAME_LENGTH].strip('-') or 'collection'}.{kind}"
    if kind == "csv":
        return csv_answer(request, rows_of(items), name)
    if kind == "jsonl":
        lines = (orjson.dumps(one) + b"\n" for one in objects_of(items))
        return export_answer(request, lines, name=name, content_type="application/jsonl")
    if kind == "bib":
        media = "application/x-bibtex; charset=utf-8"
        return export_answer(request, _bibtex(items, found.name), name=name, content_type=media)
    raise Http404(f"A collection is exported as one of: {', '.join(FORMATS)}.")


def _bibtex(items: Iterable[CollectionItem], title: str) -> Iterator[str]:
    yield from bibliography_of(items).write(title)
