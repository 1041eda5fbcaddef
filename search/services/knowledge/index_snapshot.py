"""index_snapshot: builds index files and vectors of a snapshot, and makes a release of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from search import text
from search.adapters import (
    adjacency_memmap,
    completion_memmap,
    mentions_memmap,
    nodes_memmap,
    text_bm25,
    vectors_memmap,
)  # fmt: skip
from search.adapters.string_table import StringTable
from search.domain.graph import Schema
from search.domain.vector_kinds import checked, relation_kind
from search.ingest import documents, vectors
from search.ingest.index import IndexPart, build_parts
from search.ingest.locks import import_lock
from search.ingest.partitions import with_locks
from search.ingest.progress import Progress, silent
from search.interfaces import Encoder
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.neural.site_encoders import encoder as site_encoder
from search.services.knowledge.find_nodes import COMPLETION

_VERSIONS = {"bm25": 2}
"""Of the parts whose files have changed since the first version: BM25 has relations' neighbours from 2 on."""
SEARCHED_FIELDS = ("text", "keyword")
"""Kinds of fields that get a BM25 index of their own."""


class IndexFailed(Exception):
    """No release was made; the text is a sentence for people."""


@dataclass
class IndexReport:
    """The release, the seconds of each part that was built, and the numbers of texts that were embedded or reused."""

    release: Release
    seconds: dict[str, float] = field(default_factory=dict)
    embedded: int = 0
    reused: int = 0


def index_snapshot(*, snapshot: Snapshot, progress: Progress = silent, encoder: Encoder | None = None) -> Release:
    """Build or continue the indexes of a snapshot, and return its release, which is not activated.

    `encoder` defaults to the configured one. If the snapshot is already indexed, its release is returned. Raises
    IndexFailed if the snapshot cannot be indexed or another process is indexing it.
    """
    return build_index(snapshot=snapshot, progress=progress, encoder=encoder).release


def build_index(
    *,
    snapshot: Snapshot,
    progress: Progress = silent,
    encoder: Encoder | None = None,
    kinds: Sequence[str] = (),
) -> IndexReport:
    """Do what `index_snapshot` does, and tell what it took.

    `kinds` are kinds of vectors (`search.domain.vector_kinds`) beside the usual ones; with others than before a
    snapshot gets another release. Raises InvalidRequest with a fault for every kind that there is not.
    """
    wanted = list(checked(kinds, snapshot.schema))
    knowledge_base = snapshot.knowledge_base
    if snapshot.status != BuildStatus.READY:
        raise IndexFailed(f"The {snapshot} is {snapshot.get_status_display()}; only one that is ready can be indexed.")
    with import_lock(knowledge_base.name) as free:
        if not free:
            raise IndexFailed(f"An import of '{knowledge_base.name}' is running; wait until it has ended.")
        seconds = build_parts(snapshot.directory, _parts(snapshot), progress)
        encoder = encoder or site_encoder()
        vector_set, _ = VectorSet.objects.get_or_create(
            snapshot=snapshot,
            encoder=encoder.name,
            kinds=wanted,
            defaults={"dimensions": encoder.dimensions, "status": BuildStatus.BUILDING},
        )
        made = vector_set.releases.filter(status=BuildStatus.READY).first()
        if made is not None:
            return IndexReport(made, seconds | _map_documents(vector_set, progress))
        return _finish(vector_set, encoder, seconds, progress)


def _finish(vector_set: VectorSet, encoder: Encoder, seconds: dict[str, float], progress: Progress) -> IndexReport:
    """Fill and index the vector set, make the release, and return it."""
    snapshot = vector_set.snapshot
    names = StringTable.open(snapshot.directory / "nodes" / "names")
    schema = snapshot.schema

    def source(first: int) -> Iterator[list[documents.NodeWithNeighbours]]:
        return documents.nodes_with_neighbours(snapshot.pk, schema, names.__getitem__, first)

    began = time.perf_counter()
    filled = vectors.fill(vector_set, schema, encoder, source, progress)
    seconds["vectors"] = time.perf_counter() - began
    began = time.perf_counter()
    vectors.index(vector_set, progress)
    seconds["hnsw"] = time.perf_counter() - began
    seconds |= _map_documents(vector_set, progress)
    releases: list[Release] = []
    with_locks(lambda: releases.append(_release(vector_set, seconds)))
    return IndexReport(releases[-1], seconds, filled.embedded, filled.reused)


def _map_documents(vector_set: VectorSet, progress: Progress) -> dict[str, float]:
    """Write the document vectors as a memory-mapped matrix if it is missing; return the seconds it took."""
    folder = vector_set.directory
    write = partial(vectors_memmap.build, rows=vectors.documents(vector_set))
    return build_parts(folder.parent, {folder.name: IndexPart(version=1, write=write)}, progress)


def _release(vector_set: VectorSet, seconds: Mapping[str, float]) -> Release:
    """Create and return the release, in the caller's transaction."""
    snapshot = vector_set.snapshot
    vectors.attach(vector_set)
    snapshot.seconds = {**snapshot.seconds, **{f"index: {part}": taken for part, taken in seconds.items()}}
    snapshot.save(update_fields=["seconds"])
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


def _parts(snapshot: Snapshot) -> dict[str, IndexPart]:
    """Return the parts of a snapshot's index files, in order; a part's version increases when its format changes."""
    schema = snapshot.schema
    build: Mapping[str, Callable[[Path], None]] = {
        "nodes": lambda folder: nodes_memmap.build(folder, documents.references(snapshot.pk)),
        "adjacency": lambda folder: _write_adjacency(folder, snapshot, schema),
        "mentions": lambda folder: mentions_memmap.build(folder, _names(snapshot, schema)),
        COMPLETION: lambda folder: completion_memmap.build(folder, _names(snapshot, schema)),
        "bm25": lambda folder: _write_bm25(folder, snapshot, schema),
    }
    return {name: IndexPart(version=_VERSIONS.get(name, 1), write=write) for name, write in build.items()}


def _names(snapshot: Snapshot, schema: Schema) -> Iterator[tuple[int, str, bool]]:
    for block in documents.nodes(snapshot.pk, schema):
        for node in block:
            yield node.key, node.name, False
            for alias in node.aliases:
                yield node.key, alias, True


def _types(snapshot: Snapshot) -> NDArray[np.int16]:
    return np.load(snapshot.directory / "nodes" / "types.npy", mmap_mode="r").view(np.ndarray)


def _write_adjacency(folder: Path, snapshot: Snapshot, schema: Schema) -> None:
    relation, source, target = documents.edges(snapshot.pk)
    adjacency_memmap.build(
        folder,
        nodes=snapshot.nodes,
        types=_types(snapshot),
        relation=relation,
        source=source,
        target=target,
        relations=len(schema.relations),
    )


def _write_bm25(folder: Path, snapshot: Snapshot, schema: Schema) -> None:
    searched = {
        node_type.name: {field.name for field in node_type.fields if field.kind in SEARCHED_FIELDS}
        for node_type in schema.node_types
    }
    names = StringTable.open(snapshot.directory / "nodes" / "names")

    def texts() -> Iterable[tuple[str, Mapping[str, str]]]:
        for block in documents.nodes_with_neighbours(snapshot.pk, schema, names.__getitem__):
            for item in block:
                fields = searched[item.node.type]
                by_field = {name: text.field_text(value) for name, value in item.node.fields.items() if name in fields}
                by_field |= {relation_kind(name): text.relation_text(near) for name, near in item.neighbours.items()}
                yield text.document(item.node, item.neighbours), by_field

    text_bm25.build(folder, texts(), _types(snapshot), schema.language)
