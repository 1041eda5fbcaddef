"""Names of the lists: `<field>/<scorer>`, such as `name/dense` or `relation:treats/bm25`, and `pagerank`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from search.domain.vector_kinds import (
    DOCUMENT,
    FIELD,
    IN_MEMORY,
    NAME,
    NEIGHBOURS,
    NEIGHBOURS2,
    RELATION,
    WHOLE,
    passages_in,
)
from search.text import words

DENSE, WORDS = "dense", "bm25"
PAGERANK = "pagerank"
PASSAGES = "passages/clauses"
"""The list of the question's clauses compared with the passages of documents."""
TEXT = f"text/{WORDS}"
"""The list of BM25 over whole documents."""
NEIGHBOURHOOD, NEIGHBOURHOOD2 = f"neighbourhood/{WORDS}", f"neighbourhood2/{WORDS}"
"""The lists of BM25 over a node together with its neighbours, and of the best of its neighbours by this."""
TYPE = "type"
"""The list that holds, for each candidate, how well its node type fits the question."""
MOST_FIELDS = 32
"""Most fields and relations that have a list of words each; a schema may have hundreds."""
_WHOLE = (TEXT, NEIGHBOURHOOD, NEIGHBOURHOOD2)
_FIELD_OF_KIND = {WHOLE: "document", DOCUMENT: "text"}
_TITLES = {
    "name": "Name", "document": "Document", "text": "Document text", NEIGHBOURS: "Neighbours",
    NEIGHBOURS2: "Neighbours at two steps", "neighbourhood": "With its neighbours",
    "neighbourhood2": "Best neighbour with its neighbours", "passages": "Passages",
}  # fmt: skip
_SCORERS = {DENSE: "by meaning", WORDS: "by words", "clauses": "clause by clause"}


def dense_list(kind: str) -> str:
    """Return the name of the list of a kind of vectors."""
    return f"{_FIELD_OF_KIND.get(kind, kind)}/{DENSE}"


def word_list(field: str) -> str:
    """Return the name of the list of words in a field, which the index names `<field>` or `relation:<name>`."""
    return f"{field if field.startswith(RELATION) else FIELD + field}/{WORDS}"


def kind_of(name: str) -> str | None:
    """Return the kind of vectors of a dense list, or None for another list."""
    field, _, scorer = name.rpartition("/")
    if scorer != DENSE:
        return None
    return next((kind for kind, own in _FIELD_OF_KIND.items() if own == field), field)


def field_of(name: str) -> str | None:
    """Return the field of the index that a list of words searches; None for whole documents and other lists."""
    field, _, scorer = name.rpartition("/")
    return None if scorer != WORDS or name in _WHOLE else field.removeprefix(FIELD)


def is_words(name: str) -> bool:
    """Return whether a list is one of words."""
    return name.endswith(f"/{WORDS}")


def lists_of(kinds: Iterable[str], fields: Sequence[str], nodes: int) -> tuple[str, ...]:
    """Return the lists of a release: of its kinds of vectors, of its index's fields, of neighbourhoods, and PageRank.

    Neighbourhoods and passages have lists in bases of up to `IN_MEMORY` nodes.

    Stretches of documents (`chunk`) are left out: they repeat the document. Of more than `MOST_FIELDS` fields the first
    ones have a list of words.
    """
    first = (NAME, WHOLE, NEIGHBOURS, NEIGHBOURS2)
    known = set(kinds)
    ordered = [kind for kind in first if kind in known]
    ordered += sorted(kind for kind in known if kind == DOCUMENT or kind.startswith((FIELD, RELATION)))
    near = (NEIGHBOURHOOD, NEIGHBOURHOOD2) if nodes <= IN_MEMORY else ()
    passages = (PASSAGES,) if passages_in(known) and nodes <= IN_MEMORY else ()
    return (*map(dense_list, ordered), TEXT, *near, *map(word_list, fields[:MOST_FIELDS]), PAGERANK, *passages)


def title(name: str) -> str:
    """Return the title of a list on pages, or an empty string for a name that is no list of a retriever of fields."""
    if name == TYPE:
        return "Type of the answer"
    field, _, scorer = name.rpartition("/")
    if scorer not in _SCORERS or not field:
        return ""
    if field.startswith(RELATION):
        field = f"Neighbours over “{words(field.removeprefix(RELATION))}”"
    elif field.startswith(FIELD):
        field = f"Field “{words(field.removeprefix(FIELD))}”"
    return f"{_TITLES.get(field, field)}, {_SCORERS[scorer]}"
