"""Kinds of vectors: the text of a node from which a vector was computed.

| kind | text |
|---|---|
| `name` | name and aliases |
| `document` | type, name, aliases and fields |
| `document+relations` | the text of `document`, and the names of neighbours |
| `prose` | type and fields of sentences, without the name; a node has none whose document is little else |
| `field:<name>` | one field |
| `relation:<name>` | the names of the neighbours over one relation, in both directions |
| `chunk` | one stretch of the document; a node has one vector for each stretch of its document |
| `passage` | one or a few sentences of the fields; a node has one vector for each |
| `passage:drops` | the same, cut where the similarity of neighbouring sentences drops; tables in segments |
| `neighbours` | computed: mean of the `document+relations` vectors of the node's neighbours, of unit length |
| `neighbours2` | computed: the same at two hops (see `search.ingest.neighbour_vectors`) |

Computed kinds are part of every vector set. Nothing is encoded for them, and a node without neighbours has none.
"""

from __future__ import annotations

from collections.abc import Iterable

from search.domain.errors import Fault, InvalidRequest
from search.domain.graph import Schema

NAME = "name"
DOCUMENT = "document"
WHOLE = "document+relations"
PROSE = "prose"
CHUNK = "chunk"
PASSAGE = "passage"
DROPS = "passage:drops"
NEIGHBOURS = "neighbours"
NEIGHBOURS2 = "neighbours2"
FIELD, RELATION = "field:", "relation:"
SEVERAL = (CHUNK, PASSAGE, DROPS)
"""Kinds of which a node may have several vectors."""

USUAL = (NAME, WHOLE, PROSE)
"""Kinds that every new vector set has: linking, text retrieval and the cosines of given nodes use them. Sets of earlier
versions lack the last one."""
IN_MEMORY = 100_000
"""Up to this number of nodes all vectors of a kind are compared in its matrix: 43,000 of 384 dimensions take 2.5 ms,
and an HNSW index takes 5 ms. Above it, computed kinds are in the index, too."""
MOST_DIMENSIONS = 16_000
MOST_INDEXED_DIMENSIONS = 4_000
"""Dimensions of vectors in half precision that Postgres stores, and that its HNSW indexes hold."""
COMPUTED = (NEIGHBOURS, NEIGHBOURS2)
"""Kinds that are computed from the documents' vectors; every vector set has them, so nobody needs to ask for them."""


def passages_in(kinds: Iterable[str]) -> str | None:
    """Return the kind of passages that a release has, `passage` if it has both, or None."""
    known = set(kinds)
    return next((kind for kind in (PASSAGE, DROPS) if kind in known), None)


def relation_kind(name: str) -> str:
    """Return the kind of the vectors of a relation's neighbours."""
    return f"{RELATION}{name}"


def checked(kinds: Iterable[str], schema: Schema) -> tuple[str, ...]:
    """Return the encoded kinds of a vector set of this schema: those of `USUAL`, then the given ones, each once.

    Computed kinds are left out, because every vector set has them.
    Raises InvalidRequest with a fault for every unknown kind, and for every unknown field or relation.
    """
    fields = {field.name for node_type in schema.node_types for field in node_type.fields}
    relations = {relation.name for relation in schema.relations}
    wanted = tuple(kind for kind in dict.fromkeys([*USUAL, *kinds]) if kind not in COMPUTED)
    faults = [Fault("/kinds", problem) for kind in wanted if (problem := _problem(kind, fields, relations))]
    if faults:
        raise InvalidRequest(faults)
    return wanted


def _problem(kind: str, fields: set[str], relations: set[str]) -> str:
    """Return a sentence about the fault of a kind, or an empty string if it is valid."""
    if kind in (NAME, DOCUMENT, WHOLE, PROSE, *SEVERAL):
        return ""
    for prefix, known, what in ((FIELD, fields, "field"), (RELATION, relations, "relation")):
        if kind.startswith(prefix):
            name = kind.removeprefix(prefix)
            there = ", ".join(sorted(known)) or "none"
            return "" if name in known else f"{kind!r}: there is no {what} {name!r}; there are: {there}."
    return (
        f"{kind!r} is no kind of vectors; there are: {NAME}, {DOCUMENT}, {WHOLE}, {PROSE}, {CHUNK}, {PASSAGE}, "
        f"{DROPS}, {FIELD}<name>, {RELATION}<name>."
    )
