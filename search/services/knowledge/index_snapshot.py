"""index_snapshot: builds index files and vectors of a snapshot, and makes a release of it."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from django.db import transaction
from django.db.models import Max
from numpy.typing import NDArray

from search import text
from search.adapters import (
    adjacency_memmap,
    columns_memmap,
    completion_memmap,
    edge_values_memmap,
    field_values,
    mentions_memmap,
    near_names,
    nodes_memmap,
    text_bm25,
    vectors_memmap,
)  # fmt: skip
from search.adapters.index_files.fetch import FetchRuns, building
from search.adapters.index_files.keep import mend, record
from search.adapters.index_files.store import StoreFailed
from search.adapters.string_table import StringTable
from search.domain.errors import StageError
from search.domain.graph import ANY, Direction, Node, Schema
from search.domain.run_context import RunContext
from search.domain.vector_kinds import IN_MEMORY, MOST_DIMENSIONS, WHOLE, checked, relation_kind
from search.ingest import documents, neighbour_vectors, vector_engine, vectors
from search.ingest.embed import CUT, EVERY_TEXT
from search.ingest.index import IndexPart, build_parts
from search.ingest.locks import import_lock
from search.ingest.partitions import with_locks
from search.ingest.parts import WRITE_VECTORS, index_files
from search.interfaces import Encoder
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.neural.site_encoders import encoder as site_encoder
from search.services.index_store import send_snapshot
from search.services.jobs.run_context import plain_run
from search.services.knowledge.find_nodes import COMPLETION

_VERSIONS = {"bm25": 2, "near_names": 2, "mentions": 2, COMPLETION: 2, "columns": 2}
"""Of the parts whose files have changed since the first version: BM25 has relations' neighbours from 2 on,
near names trigrams, mentions and completion names of symbols alone, columns all values of whole fields."""
_VECTORS_VERSION = 2
"""Of the matrices of vectors: from 2 on there is one for every kind, and there are computed kinds."""
FETCH_SECONDS = 600.0
"""How long building waits for a fetch of the same folders on this machine."""
SEARCHED_FIELDS = ("text", "keyword")
"""Kinds of fields that get a BM25 index of their own."""


LENGTHS_FILE = "lengths.npy"
"""Name of the file of BM25 that holds the number of characters of each node's document."""

UNEMBEDDED = "Without vectors (`--no-vectors`), the release is searched by words and by the graph alone."

T = TypeVar("T")


class IndexFailed(Exception):
    """No release was made; the text is a sentence for people."""


@dataclass
class IndexReport:
    """The release, the seconds of each part that was built, and the numbers of texts that were embedded or reused."""

    release: Release
    seconds: dict[str, float] = field(default_factory=dict)
    embedded: int = 0
    reused: int = 0


def index_snapshot(
    *, snapshot: Snapshot, run: RunContext | None = None, encoder: Encoder | None = None, embed: bool = True
) -> Release:
    """Build or continue the indexes of a snapshot, and return its release, which is not activated.

    `encoder` defaults to the configured one; without `embed` the release has no vectors. If the snapshot is already
    indexed, its release is returned. Raises IndexFailed if the snapshot cannot be indexed or another process is
    indexing it.
    """
    return build_index(snapshot=snapshot, run=run, encoder=encoder, embed=embed).release


def build_index(
    *,
    snapshot: Snapshot,
    run: RunContext | None = None,
    encoder: Encoder | None = None,
    kinds: Sequence[str] = (),
    embed: bool = True,
) -> IndexReport:
    """Do what `index_snapshot` does, and tell what it took.

    `kinds` are kinds of vectors (`search.domain.vector_kinds`) beside the usual ones; with others than before a
    snapshot gets another release. Without `embed` the release has no vectors: it is searched by words and by the graph,
    and a later call makes one with vectors beside it. If the process dies, the next call goes on where it stopped.
    Raises InvalidRequest with a fault for every kind that there is not, and RunCancelled; what is finished by then is
    kept for the next call.
    """
    run = run or plain_run()
    wanted = list(checked(kinds, snapshot.schema))
    knowledge_base = snapshot.knowledge_base
    if snapshot.status != BuildStatus.READY:
        raise IndexFailed(f"The {snapshot} is {snapshot.get_status_display()}; only one that is ready can be indexed.")
    with import_lock(knowledge_base.name, run=run) as free:
        if not free:
            raise IndexFailed(f"An import of '{knowledge_base.name}' is running; wait until it has ended.")
        mend(snapshot)
        snapshot.directory.mkdir(parents=True, exist_ok=True)
        try:
            # So that no search worker of this home fetches a folder that was built anew before it is listed anew.
            with building(snapshot.directory, FETCH_SECONDS):
                report = _built(snapshot, run, encoder, wanted, embed)
                record(snapshot, frozenset(report.seconds))
            send_snapshot(snapshot=snapshot, run=run)
        except FetchRuns as error:
            raise IndexFailed(f"Index files of the {snapshot} are being fetched; wait until that has ended.") from error
        except StoreFailed as error:
            raise IndexFailed(str(error)) from error
        return report


def usable_encoder() -> Encoder:
    """Return the encoder of new releases, loaded; IndexFailed if it cannot be, or if Postgres cannot store its vectors.

    An import calls it before it reads anything, because embedding is its last part.
    """
    try:
        found = site_encoder()
    except StageError as error:
        raise IndexFailed(
            f"The texts cannot be embedded, so nothing was loaded: {error.reason}. {UNEMBEDDED}"
        ) from error
    if found.dimensions > MOST_DIMENSIONS:
        what = f"The vectors of {found.name} have {found.dimensions:,} dimensions"
        raise IndexFailed(f"{what}, and Postgres stores at most {MOST_DIMENSIONS:,}; nothing was loaded. {UNEMBEDDED}")
    return found


def _built(
    snapshot: Snapshot, run: RunContext, encoder: Encoder | None, wanted: Sequence[str], embed: bool
) -> IndexReport:
    """Build what is missing, and return the release."""
    seconds = build_parts(snapshot.directory, part_writers(snapshot, run), run)
    if not embed:
        made = snapshot.releases.filter(status=BuildStatus.READY, vector_set=None).first()
        return IndexReport(made, seconds) if made is not None else _finish_without(snapshot, seconds, run)
    encoder = encoder or usable_encoder()
    vector_set, _ = VectorSet.objects.get_or_create(
        snapshot=snapshot,
        encoder=encoder.name,
        kinds=wanted,
        defaults={"dimensions": encoder.dimensions, "status": BuildStatus.BUILDING},
    )
    made = vector_set.releases.filter(status=BuildStatus.READY).first()
    if made is not None:
        seconds |= _map_vectors(vector_set, run)
        _fill_engine(vector_set, run)
        return IndexReport(made, seconds)
    return _finish(vector_set, encoder, seconds, run)


def _finish(vector_set: VectorSet, encoder: Encoder, seconds: dict[str, float], run: RunContext) -> IndexReport:
    """Fill and index the vector set, make the release, and return it."""
    snapshot = vector_set.snapshot
    schema = snapshot.schema

    def source(first: int) -> Iterator[list[documents.NodeWithNeighbours[str]]]:
        return nodes_with_neighbours(snapshot, schema, first)

    began = time.perf_counter()
    filled = vectors.fill(vector_set, schema, encoder, source, _effort(snapshot, len(vector_set.kinds)), run)
    seconds["vectors"] = time.perf_counter() - began
    began = time.perf_counter()
    vectors.index(vector_set, run)
    seconds["hnsw"] = time.perf_counter() - began
    seconds |= _map_vectors(vector_set, run)
    _fill_engine(vector_set, run)
    releases: list[Release] = []

    def write() -> None:
        vectors.attach(vector_set)
        releases.append(_release(snapshot, vector_set, seconds))

    with_locks(write, run)
    return IndexReport(releases[-1], seconds, filled.embedded, filled.reused)


def _finish_without(snapshot: Snapshot, seconds: dict[str, float], run: RunContext) -> IndexReport:
    """Make a release without vectors, and return it."""
    with run.fenced(), transaction.atomic():
        return IndexReport(_release(snapshot, None, seconds), seconds)


def _effort(snapshot: Snapshot, kinds: int) -> NDArray[np.int64]:
    """Return the work of embedding the nodes before each key, and before the end, from the lengths of the documents.

    A document stands for every kind of vectors but the names'. An index of an earlier version has no lengths; all nodes
    then count the same.
    """
    try:
        lengths = np.load(snapshot.directory / "bm25" / LENGTHS_FILE).astype(np.int64)
    except FileNotFoundError:
        lengths = np.zeros(snapshot.nodes, dtype=np.int64)
    of_node = kinds * EVERY_TEXT + max(1, kinds - 1) * np.minimum(lengths, CUT)
    return np.concatenate(([0], np.cumsum(of_node)))


def _map_vectors(vector_set: VectorSet, run: RunContext) -> dict[str, float]:
    """Write the matrices of the vectors, computed kinds included, if they are missing; return the seconds it took."""
    folder = vector_set.directory
    part = IndexPart(_VECTORS_VERSION, partial(_write_matrices, vector_set=vector_set, run=run), title=WRITE_VECTORS)
    return build_parts(folder.parent, {folder.name: part}, run)


def _fill_engine(vector_set: VectorSet, run: RunContext) -> None:
    """Copy the vectors into the vector engine, if this site has one and searches ask it; IndexFailed if that fails."""
    try:
        vector_engine.fill(vector_set, run)
    except StageError as error:
        raise IndexFailed(
            f"The vectors were not copied: {error.reason}. Index it again to go on from there."
        ) from error


def _write_matrices(folder: Path, vector_set: VectorSet, run: RunContext) -> None:
    """Write the matrix of every kind into `folder`."""
    snapshot = vector_set.snapshot
    others = [kind for kind in vector_set.kinds if kind != WHOLE]
    total = (len(others) + 2) * snapshot.nodes
    done = 0

    def counted(nodes: int) -> None:
        nonlocal done
        done += nodes
        run.report(WRITE_VECTORS, done, total)

    def documents_told() -> Iterator[NDArray[np.float16]]:
        for block in vectors.documents(vector_set):
            yield block
            counted(len(block))

    vectors_memmap.build(folder, documents_told())
    for kind in others:
        vectors_memmap.build_kind(folder, kind, vectors.rows_of(vector_set, kind))
        counted(snapshot.nodes)
    matrix = vectors_memmap.DocumentVectors(folder, vector_set.dimensions).matrix()
    adjacency = _adjacency(snapshot, snapshot.schema)
    found = neighbour_vectors.means(matrix.rows, neighbour_vectors.links(adjacency), lambda share: run.check())
    for kind, rows in found.items():
        vectors_memmap.build_kind(folder, kind, neighbour_vectors.blocks(rows))
        if snapshot.nodes > IN_MEMORY:
            vectors.add_computed(vector_set, kind, neighbour_vectors.blocks(rows), _types(snapshot), run)
    counted(snapshot.nodes)


def _release(snapshot: Snapshot, vector_set: VectorSet | None, seconds: Mapping[str, float]) -> Release:
    """Create and return the release, in the caller's transaction."""
    snapshot.seconds = {**snapshot.seconds, **{f"index: {part}": taken for part, taken in seconds.items()}}
    snapshot.save(update_fields=["seconds"])
    return numbered_release(snapshot, vector_set)


def numbered_release(snapshot: Snapshot, vector_set: VectorSet | None) -> Release:
    """Create and return a release with the next number of its knowledge base, in the caller's transaction."""
    # The lock on the knowledge base's row serialises the numbering of its releases.
    knowledge_base = KnowledgeBase.objects.select_for_update().get(pk=snapshot.knowledge_base_id)
    newest = knowledge_base.releases.aggregate(newest=Max("number"))["newest"] or 0
    return Release.objects.create(
        knowledge_base=knowledge_base,
        number=newest + 1,
        snapshot=snapshot,
        vector_set=vector_set,
        status=BuildStatus.READY,
    )


def part_writers(snapshot: Snapshot, run: RunContext) -> dict[str, IndexPart]:
    """Return the parts of a snapshot's index files, in order; a part's version increases when its format changes."""
    schema = snapshot.schema
    build: Mapping[str, Callable[[Path], None]] = {
        "nodes": lambda folder: nodes_memmap.build(folder, _references(snapshot, run)),
        "adjacency": lambda folder: _write_adjacency(folder, snapshot, schema, run),
        "mentions": lambda folder: mentions_memmap.build(folder, _names("mentions", snapshot, run)),
        COMPLETION: lambda folder: completion_memmap.build(folder, _names(COMPLETION, snapshot, run)),
        "near_names": lambda folder: _write_near_names(folder, snapshot, schema, run),
        "bm25": lambda folder: _write_bm25(folder, snapshot, schema, run),
        "values": lambda folder: field_values.build(folder, schema, _nodes("values", snapshot, schema, run)),
        "columns": lambda folder: columns_memmap.build(folder, schema, _nodes("columns", snapshot, schema, run)),
    }
    return {name: IndexPart(version=_VERSIONS.get(name, 1), write=write) for name, write in build.items()}


def _told(run: RunContext, part: str, total: int, items: Iterable[T], size: Callable[[T], int]) -> Iterator[T]:
    """Yield the items; report after each how much is done, where `size` is the amount of one item."""
    done = 0
    for item in items:
        yield item
        done += size(item)
        run.report(part, done, total)


def _references(snapshot: Snapshot, run: RunContext) -> Iterator[tuple[str, str, int]]:
    blocks = documents.references(snapshot.pk)
    for block in _told(run, index_files("nodes"), snapshot.nodes, blocks, len):
        yield from block


def _nodes(part: str, snapshot: Snapshot, schema: Schema, run: RunContext) -> Iterator[Node]:
    for block in _told(run, index_files(part), snapshot.nodes, documents.nodes(snapshot.pk, schema), len):
        yield from block


def nodes_with_neighbours(
    snapshot: Snapshot, schema: Schema, first: int = 0
) -> Iterator[list[documents.NodeWithNeighbours[str]]]:
    """Yield blocks of the nodes of a snapshot from a key on, with their neighbours' names, from its index files."""
    names = _names_by_key(snapshot).many
    return documents.nodes_with_neighbours(snapshot.pk, schema, _adjacency(snapshot, schema), names, first)


def _names_by_key(snapshot: Snapshot) -> StringTable:
    return StringTable.open(snapshot.directory / "nodes" / "names")


def _adjacency(snapshot: Snapshot, schema: Schema) -> adjacency_memmap.MemmapAdjacency:
    return adjacency_memmap.MemmapAdjacency(snapshot.directory / "adjacency", schema)


def _names(part: str, snapshot: Snapshot, run: RunContext) -> Iterator[tuple[int, str, bool]]:
    for block in _told(run, index_files(part), snapshot.nodes, documents.names(snapshot.pk), len):
        for key, name, aliases in block:
            yield key, name, False
            for alias in aliases:
                yield key, alias, True


def _types(snapshot: Snapshot) -> NDArray[np.int16]:
    return np.load(snapshot.directory / "nodes" / "types.npy", mmap_mode="r").view(np.ndarray)


def _write_adjacency(folder: Path, snapshot: Snapshot, schema: Schema, run: RunContext) -> None:
    part, done = index_files("adjacency"), 0

    def edges(direction: Direction) -> Iterator[adjacency_memmap.EdgeBlock]:
        nonlocal done
        for block in documents.edge_blocks(snapshot.pk, direction, run.check):
            yield block
            done += len(block[0])
            run.report(part, done, 2 * snapshot.edges)

    adjacency_memmap.build(
        folder, nodes=snapshot.nodes, types=_types(snapshot), relations=len(schema.relations), edges=edges
    )
    if schema.edge_fields(ANY):
        rows = documents.edge_fields(snapshot.pk, snapshot.nodes, check=run.check)
        edge_values_memmap.build(folder, schema, snapshot.nodes, rows)


def _write_near_names(folder: Path, snapshot: Snapshot, schema: Schema, run: RunContext) -> None:
    part, done = index_files("near_names"), 0

    def told(names: int) -> None:
        nonlocal done
        done += names
        run.report(part, min(done, snapshot.nodes), snapshot.nodes)

    near_names.build(folder, snapshot.directory / "mentions", schema.language, told)


def _write_bm25(folder: Path, snapshot: Snapshot, schema: Schema, run: RunContext) -> None:
    searched = {
        node_type.name: {field.name for field in node_type.fields if field.kind in SEARCHED_FIELDS}
        for node_type in schema.node_types
    }
    # Reading the documents takes about as long as computing the scores of all their words.
    part, whole = index_files("bm25"), 2 * snapshot.nodes
    names = _names_by_key(snapshot)
    name_lengths = array("i", (len(names[key]) for key in range(len(names))))
    lengths = array("i")

    def texts() -> Iterable[text_bm25.Document]:
        keys = documents.nodes_with_neighbours(snapshot.pk, schema, _adjacency(snapshot, schema), np.ndarray.tolist)
        for block in _told(run, part, whole, keys, len):
            for item in block:
                lengths.append(_length(item.node, item.neighbours, name_lengths))
                yield _document(item.node, item.neighbours, searched[item.node.type])

    def computed(share: float) -> None:
        run.report(part, int((1 + share) * snapshot.nodes), whole)

    every_name = (names[key] for key in range(len(names)))
    text_bm25.build(folder, texts(), _types(snapshot), schema.language, every_name, computed)
    np.save(folder / LENGTHS_FILE, np.frombuffer(lengths, dtype=np.int32))


def _document(node: Node, neighbours: Mapping[str, Sequence[int]], searched: Collection[str]) -> text_bm25.Document:
    """Return the words of a node's document (`text.document`), apart for each field and relation."""
    fields = {name: text.field_text(value) for name, value in node.fields.items() if name in searched}
    others = {name: value for name, value in node.fields.items() if name not in searched}
    labels = [text.words(name) for name, value in fields.items() if value] + [text.words(name) for name in neighbours]
    return text_bm25.Document(
        "\n".join([text.document(replace(node, fields=others)), *labels]),
        fields,
        {relation_kind(name): keys for name, keys in neighbours.items()},
    )


def _length(node: Node, neighbours: Mapping[str, Sequence[int]], name_lengths: array[int]) -> int:
    """Return the number of characters of a node's document (`text.document`) with its neighbours' names."""
    relations = sum(
        len(f"\n{text.words(name)}: ") + sum(name_lengths[key] for key in keys) + 2 * (len(keys) - 1)
        for name, keys in neighbours.items()
    )
    return len(text.document(node)) + relations
