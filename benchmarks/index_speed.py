"""Time and size of a snapshot's indexes, and the time that known texts save in a second import of the same data.

The encoder gets a new name, so that no text is known from elsewhere; all data are dropped afterwards.
"""

from __future__ import annotations

import time
from pathlib import Path

from django.db import connection

from benchmarks.common import NotHere, data, percentiles, show, table
from search import text
from search.domain.graph import Schema
from search.ingest.cleanup import remove_data
from search.models import KnowledgeBase, Snapshot
from search.models.partitions import partition
from search.neural.encoders import SentenceEncoder
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.index_snapshot import IndexReport, build_index
from search.wiring import Tools

BUNDLES = ("prime-ibd", "movies")
NAME = "bench-index"
QUERIES = 200


def main() -> None:
    """Index each bundle twice and print the tables."""
    encoder = SentenceEncoder()
    encoder.name = f"{encoder.name} measured at {time.time():.0f}"
    for bundle in BUNDLES:
        try:
            folder = data(bundle)
        except NotHere as reason:
            show(f"{bundle}: {reason}; not measured.")
            continue
        try:
            _measure(bundle, folder, encoder)
        finally:
            _forget()


def _measure(bundle: str, folder: Path, encoder: SentenceEncoder) -> None:
    rows = []
    for run in ("first import", "the same data again"):
        import_snapshot(source=folder, name=NAME, index=False)
        snapshot = Snapshot.objects.filter(knowledge_base__name=NAME).latest("pk")
        began, cpu = time.perf_counter(), time.process_time()
        indexed = build_index(snapshot=snapshot, encoder=encoder)
        whole, cpu = time.perf_counter() - began, time.process_time() - cpu
        files = sum(indexed.seconds[part] for part in ("nodes", "adjacency", "mentions", "completion", "bm25"))
        rows.append((run, f"{indexed.embedded:,}", f"{indexed.reused:,}", files, indexed.seconds["vectors"],
                     indexed.seconds["hnsw"], whole, cpu, *_sizes(indexed)))  # fmt: skip
    columns = ("", "texts embedded", "known", "files s", "vectors s", "HNSW s", "all s", "own CPU s", "files MB",
               "vectors MB")  # fmt: skip
    table(f"Index of {bundle}: {snapshot.nodes:,} nodes, {encoder.dtype} on {encoder.device}", columns, rows)
    _queries(bundle, indexed, encoder)


def _sizes(indexed: IndexReport) -> tuple[float, float]:
    """Return the megabytes of the index files, and of the vectors with their database indexes."""
    directory = indexed.release.snapshot.directory
    files = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    with connection.cursor() as cursor:
        name = partition("search_vector", indexed.release.vector_set_id or 0)
        cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [name])
        return files / 1e6, cursor.fetchone()[0] / 1e6


def _queries(bundle: str, indexed: IndexReport, encoder: SentenceEncoder) -> None:
    """Measure each kind of look-up, with names of nodes as questions."""
    tools = Tools(indexed.release)
    schema: Schema = tools.schema
    step = max(1, indexed.release.snapshot.nodes // QUERIES)
    texts = [text.name_text(node) for node in tools.nodes.references(range(0, indexed.release.snapshot.nodes, step))]
    largest = max(schema.node_types, key=lambda node_type: node_type.count).name
    ways = {
        "encode one text": lambda asked, vector: encoder.encode([asked]),
        "BM25, 100 deep": lambda asked, vector: tools.text.search(asked, 100),
        "nearest 100": lambda asked, vector: tools.vectors.nearest("document+relations", vector, 100),
        f"nearest 100, {largest} only": lambda asked, vector: tools.vectors.nearest(
            "document+relations", vector, 100, [largest]
        ),
        "cosines of 1,000": lambda asked, vector: tools.vectors.cosines(vector, range(1000)),
    }
    vectors = encoder.encode(texts)
    rows = []
    for way, ask in ways.items():
        seconds = []
        for asked, vector in zip(texts, vectors, strict=True):
            began = time.perf_counter()
            ask(asked, vector)
            seconds.append(time.perf_counter() - began)
        rows.append((way, *percentiles(seconds)))
    table(f"Look-ups in {bundle}, {len(texts)} texts", ("", "p50 ms", "p95 ms"), rows)


def _forget() -> None:
    for snapshot in Snapshot.objects.filter(knowledge_base__name=NAME):
        snapshot.releases.all().delete()
        remove_data(snapshot)
    KnowledgeBase.objects.filter(name=NAME).delete()
