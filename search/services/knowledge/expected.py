"""How much importing, indexing and copying a knowledge base is: the size of each part, disk and memory.

The size of a part is what it would take on a reference machine of two cores, in seconds. It says how the time grows
with the base. How long that is on this machine is learned from former jobs (`search.domain.foresight`). The figures
are fitted to `python -m benchmarks sizes` at 30k, 190k and 1.9M nodes, without vectors.
"""

from __future__ import annotations

from django.conf import settings
from django.db import connection

from search.domain.job_kinds import Needs
from search.domain.vector_kinds import COMPUTED, IN_MEMORY, USUAL
from search.ingest import parts
from search.ingest.embed import CUT, EVERY_TEXT
from search.ingest.size import Size
from search.ingest.vectors import HNSW_ABOVE
from search.models import KnowledgeBase, Snapshot, VectorSet
from search.models.partitions import partition

USUAL_DIMENSIONS = 384
"""Dimensions of the packaged encoder's vectors; assumed for an encoder that has made none yet."""
PROCESS_WITH_ENCODER = 1_150e6
"""Bytes of memory of a process that embeds with the packaged encoder, whatever the size of the base."""
PROCESS_WITHOUT_ENCODER = 320e6
"""Bytes of memory of a process that indexes without embedding."""
NEIGHBOUR_CHARACTERS = 20
"""Characters that an edge adds to the document of each of its ends."""
NODE_TABLE_SHARE = 0.8
"""Characters of a node's text for each byte of the table of nodes."""
MOST_NEIGHBOURS = 30
"""Neighbours of a node that count: a document names at most ten for each relation."""


def import_parts(size: Size, *, index: bool = True, kinds: int = len(USUAL)) -> dict[str, float]:
    """Return part → size of an import; with no `kinds` of vectors, texts are not embedded."""
    nodes, edges, characters = size.nodes, size.edges, size.characters
    expected = {
        parts.CHECK_NODES: 3e-6 * nodes + 7e-9 * characters,
        parts.CHECK_EDGES: 1.5e-6 * edges,
        parts.LOAD_NODES: 6e-6 * nodes + 2e-8 * characters,
        parts.INDEX_NODES: 6e-6 * nodes,
        parts.LOAD_EDGES: 1e-6 * edges,
        parts.INDEX_EDGES: 1.5e-6 * edges,
    }
    return expected | (index_parts(size, kinds) if index else {})


def index_parts(size: Size, kinds: int = len(USUAL)) -> dict[str, float]:
    """Return part → size of indexing, with `kinds` kinds of vectors; with none, texts are not embedded."""
    nodes, edges = size.nodes, size.edges
    document = _document_characters(size)
    embedded = nodes * (kinds * EVERY_TEXT + max(1, kinds - 1) * min(document, CUT))
    in_engine = nodes * (kinds + len(COMPUTED) - 1) if settings.VECTORS_URL and nodes > IN_MEMORY else 0
    in_postgres = nodes * kinds if nodes > HNSW_ABOVE and not in_engine else 0
    vectors = {
        parts.EMBED: 2.5e-5 * embedded,
        parts.INDEX_VECTORS: 1e-5 * nodes * kinds + 6e-4 * in_postgres,
        parts.WRITE_VECTORS: 1e-5 * nodes,
    }
    if in_engine:
        vectors |= {parts.COPY_VECTORS: 2e-5 * in_engine, parts.INDEX_ENGINE: 1.5e-3 * in_engine}
    files = {
        parts.index_files("nodes"): 1.5e-6 * nodes,
        parts.index_files("adjacency"): 1e-7 * edges,
        parts.index_files("mentions"): 1.8e-5 * nodes,
        parts.index_files("completion"): 1.8e-5 * nodes,
        parts.index_files("near_names"): 4e-5 * nodes,
        parts.index_files("values"): 1e-5 * nodes,
        parts.index_files("columns"): 1e-5 * nodes,
        parts.index_files("bm25"): 3e-5 * nodes + 7e-8 * nodes * document,
    }
    sent = {parts.SEND: 4e-8 * index_needs(size, USUAL_DIMENSIONS, 0).disk} if settings.GRASP_INDEX_STORE else {}
    return files | (vectors if kinds else {}) | sent


def sync_parts(size: Size) -> dict[str, float]:
    """Return part → size of a copy to Neo4j."""
    return {parts.WRITE_NODES: 2e-4 * size.nodes, parts.WRITE_EDGES: 5e-5 * size.edges}


def export_parts(size: Size) -> dict[str, float]:
    """Return part → size of an export."""
    return {
        parts.EXPORT_NODES: 2e-5 * size.nodes + 2e-8 * size.characters,
        parts.EXPORT_EDGES: 3e-6 * size.edges,
    }


def snapshot_size(snapshot: Snapshot) -> Size:
    """Return the size of a loaded snapshot."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(pg_table_size(to_regclass(%s)), 0)", [partition("search_node", snapshot.pk)])
        row = cursor.fetchone()
    return Size(snapshot.nodes, snapshot.edges, int((row[0] if row else 0) * NODE_TABLE_SHARE))


def base_size(knowledge_base: KnowledgeBase) -> Size:
    """Return the size of a knowledge base's active release; no size if there is none."""
    release = knowledge_base.active_release
    return Size() if release is None else snapshot_size(release.snapshot)


def new_dimensions() -> int:
    """Return the dimensions of the vectors of new releases, without loading the encoder."""
    known = VectorSet.objects.filter(encoder=settings.GRASP_ENCODER).values_list("dimensions", flat=True).first()
    return known or USUAL_DIMENSIONS


def import_needs(size: Size, dimensions: int, *, index: bool = True, kinds: int = len(USUAL)) -> Needs:
    """Return the disk and the memory that an import needs beside what is there."""
    disk = 1.6 * size.characters + 150 * size.nodes + 120 * size.edges
    memory = 300e6 + 480 * size.nodes + 25 * size.edges
    if not index:
        return Needs(int(disk), int(memory))
    indexing = index_needs(size, dimensions, kinds)
    return Needs(int(disk) + indexing.disk, max(int(memory), indexing.memory))


def index_needs(size: Size, dimensions: int, kinds: int = len(USUAL)) -> Needs:
    """Return the disk and the memory that indexing needs beside what is there."""
    vector = 2 * dimensions
    hnsw = 1.3 * vector + 300 if size.nodes > HNSW_ABOVE else 0
    document = _document_characters(size)
    matrix = vector if kinds else 0
    disk = size.nodes * (kinds * (vector + 120 + hnsw) + matrix + 2.2 * document + 480) + 10 * size.edges
    memory = (PROCESS_WITH_ENCODER if kinds else PROCESS_WITHOUT_ENCODER) + size.nodes * (300 + 2 * matrix)
    return Needs(int(disk), int(memory))


def _document_characters(size: Size) -> float:
    """Return about how many characters the document of a node has."""
    if not size.nodes:
        return 0.0
    neighbours = min(MOST_NEIGHBOURS, 2 * size.edges / size.nodes)
    return size.characters / size.nodes + NEIGHBOUR_CHARACTERS * neighbours
