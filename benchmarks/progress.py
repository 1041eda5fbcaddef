"""How well the time left of an import is estimated, and what each part costs.

Each bundle is imported and indexed in this process. Twice a second the estimate is kept, and compared with the truth
when the import has ended. The encoder gets a new name, so that no text is known from elsewhere; all data are dropped
afterwards. `GRASP_BENCH_BUNDLES` names other bundles than the usual ones, separated by commas.
"""

from __future__ import annotations

import os
import resource
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.db import connection

from benchmarks.common import NotHere, data, show, table
from benchmarks.import_speed import generate
from search.domain.time_left import Estimate, Estimator
from search.ingest.cleanup import remove_data
from search.ingest.size import Size, bundle_size
from search.interfaces import Encoder
from search.management.commands.load_demo import DEMO_NAMES, FOLDER
from search.models import KnowledgeBase, Snapshot
from search.models.partitions import partition
from search.neural.encoders import SentenceEncoder
from search.services.jobs.run_context import plain_run
from search.services.knowledge.expected import import_needs, import_parts, snapshot_size
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.index_snapshot import build_index

NAME = "bench-progress"
SECONDS_BETWEEN = 0.5
FROM = 1 / 3
"""Share of the whole time after which the estimate has to hold."""
WITHIN = 0.3
"""Relative error that still counts as holding."""
SHORT_SECONDS = 3.0
"""An error of less is nothing that anybody notices."""
GENERATED_NODES, GENERATED_EDGES = 8_000, 40_000
BUNDLES = ("papers", "generated", "prime-ibd", "wikipathways")


def main() -> None:
    """Import each bundle and print the tables."""
    encoder = SentenceEncoder()
    encoder.name = f"{encoder.name} measured at {time.time():.0f}"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for bundle in os.environ.get("GRASP_BENCH_BUNDLES", ",".join(BUNDLES)).split(","):
            try:
                source = _source(bundle, Path(folder))
            except NotHere as reason:
                show(f"{bundle}: {reason}; not measured.")
                continue
            try:
                rows.append((bundle, *_measured(bundle, source, encoder)))
            finally:
                _forget()
    columns = ("bundle", "seconds", "expected", "estimates", f"within {WITHIN:.0%}", "or 3 s", "median error %",
               "90th percentile %", "worst %")  # fmt: skip
    table("Time left, estimates after a third of the time", columns, rows)


def _source(bundle: str, folder: Path) -> Path:
    if bundle == "generated":
        return generate(folder, GENERATED_NODES, GENERATED_EDGES)
    return FOLDER / bundle if bundle in DEMO_NAMES else data(bundle)


def _measured(bundle: str, source: Path, encoder: Encoder) -> tuple[float | int, ...]:
    size = bundle_size(source)
    expected = import_parts(size)
    estimator, lock = Estimator(expected, time.monotonic()), threading.Lock()
    kept: list[tuple[float, Estimate]] = []
    ended = threading.Event()

    def report(part: str, done: int, total: int | None) -> None:
        with lock:
            estimator.report(part, done, total, time.monotonic())

    def sample() -> None:
        while not ended.wait(SECONDS_BETWEEN):
            with lock:
                now = time.monotonic()
                kept.append((now, estimator.estimate(now)))

    began = time.monotonic()
    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        import_snapshot(source=source, name=NAME, index=False, run=plain_run(report))
        snapshot = Snapshot.objects.filter(knowledge_base__name=NAME).latest("pk")
        build_index(snapshot=snapshot, encoder=encoder, run=plain_run(report))
    finally:
        ended.set()
        sampler.join()
    finish = time.monotonic()
    with lock:
        estimator.finish(finish)
        _parts(bundle, size, snapshot_size(snapshot), estimator.estimate(finish))
    _needs(bundle, size, snapshot, encoder.dimensions)
    return finish - began, sum(expected.values()), *_errors(began, finish, kept)


def _errors(began: float, finish: float, kept: Sequence[tuple[float, Estimate]]) -> Iterator[float | int]:
    errors, held, noticed = [], 0, 0
    for at, estimate in kept:
        truth = finish - at
        if at - began < FROM * (finish - began) or estimate.seconds_left is None:
            continue
        off = abs(estimate.seconds_left - truth)
        errors.append(100 * off / truth)
        held += off <= WITHIN * truth
        noticed += off <= max(WITHIN * truth, SHORT_SECONDS)
    errors.sort()
    yield len(errors)
    yield 100 * held / len(errors)
    yield 100 * noticed / len(errors)
    yield errors[len(errors) // 2]
    yield errors[len(errors) * 9 // 10]
    yield errors[-1]


def _parts(bundle: str, guessed: Size, found: Size, estimate: Estimate) -> None:
    show(f"{bundle}: {found.nodes:,} nodes, {found.edges:,} edges, {found.characters:,} characters; guessed "
         f"{guessed.nodes:,} nodes, {guessed.edges:,} edges, {guessed.characters:,} characters")  # fmt: skip
    rows = [
        (part.name, part.expected, part.seconds, part.seconds / part.expected if part.expected else 0.0,
         1e6 * part.seconds / found.nodes, 1e6 * part.seconds / max(1, found.edges), part.total or 0)
        for part in estimate.parts
    ]  # fmt: skip
    columns = ("part", "expected s", "seconds", "ratio", "µs a node", "µs an edge", "units")
    table(f"Parts of importing {bundle}", columns, rows)


def _needs(bundle: str, size: Size, snapshot: Snapshot, dimensions: int) -> None:
    """Compare what the import was estimated to need with what it took; the peak is that of all imports so far."""
    needs = import_needs(size, dimensions)
    files = sum(path.stat().st_size for path in snapshot.directory.rglob("*") if path.is_file())
    names = [partition("search_node", snapshot.pk), partition("search_edge", snapshot.pk)]
    names += [partition("search_vector", pk) for pk in snapshot.vector_sets.values_list("pk", flat=True)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) name", [names])
        tables = int(cursor.fetchone()[0])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows = [("disk", needs.disk / 1e6, (files + tables) / 1e6), ("memory", needs.memory / 1e6, peak / 1e6)]
    table(f"Needs of importing {bundle}, MB", ("", "estimated", "taken"), rows)


def _forget() -> None:
    for snapshot in Snapshot.objects.filter(knowledge_base__name=NAME):
        snapshot.releases.all().delete()
        remove_data(snapshot)
    KnowledgeBase.objects.filter(name=NAME).delete()
