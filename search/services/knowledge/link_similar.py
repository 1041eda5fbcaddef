"""link_similar: builds the similarity edges of a release, and makes a release that has them beside it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.adapters import similar_memmap, vectors_memmap
from search.adapters.index_files.keep import record
from search.adapters.index_files.store import StoreFailed
from search.domain.errors import Fault, nearest
from search.domain.graph import Node, Schema
from search.domain.run_context import RunContext
from search.domain.similarity import SimilarReport, SimilarSettings, by_degree
from search.domain.vector_kinds import DOCUMENT, FIELD, NAME, WHOLE
from search.ingest import documents
from search.ingest.locks import import_lock
from search.ingest.similar.link import SimilarRows, link
from search.ingest.similar.signals_of_nodes import signals_of, taking_part
from search.interfaces import KindMatrix
from search.models import Release, VectorSet
from search.models.knowledge import BuildStatus
from search.services.index_store import send_snapshot
from search.services.jobs.run_context import plain_run
from search.services.knowledge.index_snapshot import numbered_release

READ = "Reading texts"
WRITE = "Index files: similar"
LINKED_NOTE = "linked"
"""Name of the note that holds the id of the release that a job has made."""
_LEFT = ".similar.*.new"


class LinkFailed(Exception):
    """No similarity edges were made; the text is a sentence for people."""


@dataclass(frozen=True)
class LinkedRelease:
    """The release that has the edges, and what was made; `new` is False if it had been made before."""

    release: Release
    report: dict[str, object]
    new: bool = True


def faults_of(release: Release | None, types: Sequence[str]) -> list[Fault]:
    """Return why a release cannot get similarity edges, or not between these node types."""
    if release is None:
        return []
    faults = []
    if release.status != BuildStatus.READY:
        message = f"{release.name} is {release.get_status_display()}; only a release that is ready can be linked."
        faults.append(Fault("/release", message))
    elif release.vector_set is None:
        base = release.knowledge_base.name
        message = f"{release.name} has no vectors to compare; `index_kb {base}` makes a release with vectors."
        faults.append(Fault("/release", message))
    known = {node_type.name: node_type for node_type in release.snapshot.schema.node_types}
    for name in types:
        if name not in known:
            message = f"{release.knowledge_base.name} has no type {name[:80]!r}; it has: {', '.join(known)}."
            faults.append(Fault("/arguments/types", message, nearest(name, known)))
        elif not any(field.kind == "text" for field in known[name].fields):
            message = f"No entity of the type {name!r} has a text; only entities with text are linked."
            faults.append(Fault("/arguments/types", message))
    return faults


def link_similar(*, release: Release, settings: SimilarSettings, run: RunContext | None = None) -> LinkedRelease:
    """Build the similarity edges of a release's nodes, and return a new release that has them, not activated.

    The new release shares snapshot and vectors with the given one, which stays as it is. If a release of the same
    vectors has edges of the same settings, it is returned. If the process dies, the next call of the job goes on where
    it stopped. Raises LinkFailed if there is nothing to compare or an import is running, and RunCancelled.
    """
    run = run or plain_run()
    vector_set = release.vector_set
    if faults := faults_of(release, settings.types):
        raise LinkFailed(faults[0].message)
    assert vector_set is not None
    with import_lock(release.knowledge_base.name, run=run) as free:
        if not free:
            raise LinkFailed(f"An import of '{release.knowledge_base.name}' is running; wait until it has ended.")
        _remove_leftovers(release)
        linked = _linked(release, vector_set, settings, run)
        try:
            send_snapshot(snapshot=release.snapshot, run=run)
        except StoreFailed as error:
            raise LinkFailed(str(error)) from error
        return linked


def _linked(release: Release, vector_set: VectorSet, settings: SimilarSettings, run: RunContext) -> LinkedRelease:
    """Return the release that has the edges; it is made unless there is one."""
    if (made := _made(vector_set, settings)) is not None:
        return LinkedRelease(made, dict(similar_memmap.MemmapSimilar(made.similar_directory).about), new=False)
    began = time.perf_counter()
    rows, seconds = _compared(release, vector_set, settings, run)
    report = _report(rows, settings, seconds | {"all": time.perf_counter() - began})
    run.report(WRITE, 0, None)
    return LinkedRelease(_written(release, rows, report, run), report.to_json())


def _compared(
    release: Release, vector_set: VectorSet, settings: SimilarSettings, run: RunContext
) -> tuple[SimilarRows, dict[str, float]]:
    """Return the edges, and the seconds of reading and comparing."""
    schema = release.snapshot.schema
    began = time.perf_counter()
    part = taking_part(_nodes(release, schema, run), schema, settings)
    signals = signals_of(part, _matrices(vector_set))
    if not signals:
        where = f"types {', '.join(settings.types)}" if settings.types else release.name
        raise LinkFailed(
            f"Nothing to compare: fewer than two of {where} have a text of {settings.least_words} words or more."
        )
    read = time.perf_counter()
    rows = link(signals, part.keys, part.types, schema, settings, run)
    return rows, {"reading": read - began, "comparing": time.perf_counter() - read}


def _nodes(release: Release, schema: Schema, run: RunContext) -> Iterator[list[Node]]:
    done = 0
    for block in documents.nodes(release.snapshot_id, schema):
        yield block
        done += len(block)
        run.report(READ, done, release.snapshot.nodes)


def _matrices(vector_set: VectorSet) -> dict[str, KindMatrix]:
    """Return the mapped vectors of the kinds that are signals."""
    folder = vectors_memmap.VectorFolder(vector_set.directory, vector_set.dimensions)
    wanted = [kind for kind in vector_set.kinds if kind in (DOCUMENT, WHOLE, NAME) or kind.startswith(FIELD)]
    return {kind: folder[kind].matrix() for kind in wanted if kind in folder}


def _report(rows: SimilarRows, settings: SimilarSettings, seconds: dict[str, float]) -> SimilarReport:
    degrees = (rows.far >= 0).sum(axis=1)
    return SimilarReport(
        settings, len(rows.keys), int(degrees.sum()), rows.thresholds, by_degree(degrees.tolist()),
        float(np.median(degrees)), int(degrees.max(initial=0)), seconds,
    )  # fmt: skip


def _written(release: Release, rows: SimilarRows, report: SimilarReport, run: RunContext) -> Release:
    """Write the files and make the release, both or neither; return the release."""
    if (made := run.notes.get(LINKED_NOTE)) is not None:
        return Release.objects.get(pk=made)
    fresh = Path(tempfile.mkdtemp(prefix=".similar.", suffix=".new", dir=release.snapshot.directory))
    try:
        similar_memmap.build(
            fresh, nodes=release.snapshot.nodes, keys=rows.keys, far=rows.far, strength=rows.strength,
            signal=rows.signal, about=report.to_json(),
        )  # fmt: skip
        with run.fenced():
            new = numbered_release(release.snapshot, release.vector_set)
            run.notes.put(LINKED_NOTE, new.pk)
            fresh.rename(new.similar_directory)
        record(new.snapshot)
        return new
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _made(vector_set: VectorSet, settings: SimilarSettings) -> Release | None:
    """Return the newest ready release of these vectors whose edges were made with these settings."""
    wanted = settings.to_json()
    for release in vector_set.releases.filter(status=BuildStatus.READY).select_related("snapshot", "knowledge_base"):
        about = similar_memmap.MemmapSimilar(release.similar_directory).about
        if about and {name: about.get(name) for name in wanted} == wanted:
            return release
    return None


def _remove_leftovers(release: Release) -> None:
    """Remove the folders of attempts that died: unfinished ones, and those whose release was not committed."""
    directory = release.snapshot.directory
    ready = {one.similar_directory for one in release.snapshot.releases.filter(status=BuildStatus.READY)}
    for folder in [*directory.glob(_LEFT), *directory.glob("similar-*")]:
        if folder not in ready:
            shutil.rmtree(folder, ignore_errors=True)
