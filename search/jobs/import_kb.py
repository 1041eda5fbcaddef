"""import: load a knowledge base from wherever it is into a new snapshot, index it, and make it a release."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import orjson

from search.adapters.graph_neo4j.address import Address
from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import JobKind, JobTarget, Needs, argument
from search.domain.run_context import FINAL, RunContext
from search.ingest.detect import detect
from search.ingest.faults import BundleError
from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.ingest.mapping.guess import base_name
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.parts import UNITS
from search.ingest.size import Size
from search.jobs.unpack import find_upload
from search.models import KnowledgeBase, Upload
from search.services.imports.expected_import import (
    database_size,
    measured_folder,
    packed_size,
    source_needs,
    source_parts,
)
from search.services.imports.import_source import import_source
from search.services.imports.open_source import label_mapping
from search.services.imports.place import SourcePlace, check_place, content_of, database, is_neo4j
from search.services.imports.preview_upload import name_of
from search.services.jobs.bad_rows import FAULTS_FILE
from search.services.knowledge.import_snapshot import ImportFailed, ImportReport
from search.services.uploads.errors import UploadConflict
from search.services.uploads.unpack_upload import unfinished, unpack_upload

FAULTS_LOGGED = 20
VISIBILITIES = tuple(KnowledgeBase.Visibility.values)


@dataclass(frozen=True)
class ImportJob(JobKind):
    """Imports a knowledge base from a folder, an upload or a Neo4j database (Kind)."""

    units: ClassVar[Mapping[str, str]] = UNITS
    targets: ClassVar[tuple[str, ...]] = ()
    makes: ClassVar[str] = "release"
    source: str = argument(
        "", "Folder of this machine that imports may read, or neo4j://host:port/database. Or give an upload."
    )
    upload: str = argument("", "The id of an upload; it is unpacked first if it is not yet.")
    mapping: dict[str, Any] = argument({}, "The use of each column of plain files; docs/importing.md describes it.")
    guess: bool = argument(False, "Import plain files with the guessed mapping, where none is given.")
    name: str = argument("", "Name of the knowledge base; empty: the one that the source has.")
    visibility: str = argument(
        "", "Who may search it. Empty: everybody for a new knowledge base, and no change for one that is there.",
        choices=("", *VISIBILITIES),
    )  # fmt: skip
    tolerance: int = argument(0, "Most bad rows that are left out without failing.", low=0, high=1_000_000_000)
    check_only: bool = argument(False, "Check every row, and load nothing.")
    index: bool = argument(True, "Build the indexes and make a release.")
    vectors: bool = argument(
        True, "Encode the texts. Without, the release is ready sooner, and searched by words and by the graph alone."
    )
    activate: bool = argument(True, "Use the release for searches as soon as it is ready.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their sizes, from the size of the source."""
        size, packed = self._measured
        return source_parts(
            size, packed, database=is_neo4j(self.source), index=self.index, vectors=self.vectors,
            check_only=self.check_only,
        )  # fmt: skip

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a source that cannot be read, or that this site does not read, and a name that cannot be one."""
        faults = []
        if self.name and not BASE_NAME.fullmatch(self.name):
            message = f"'{self.name[:80]}' is not a valid name for a knowledge base: {NAME_RULE}."
            faults.append(Fault("/arguments/name", message))
        if bool(self.source) == bool(self.upload):
            faults.append(Fault("/arguments/source", "Name one source: a folder, a Neo4j database, or an upload."))
            return faults
        at = "/arguments/upload" if self.upload else "/arguments/source"
        try:
            self._check()
        except InvalidRequest as error:
            faults += [Fault(_pointer(fault.pointer, at), fault.message, fault.nearest) for fault in error.faults]
        except (BundleError, OSError) as error:
            faults.append(Fault(at, str(error)))
        return faults

    def writes(self, target: JobTarget) -> tuple[str, str]:
        """Return the given name; the name that only the source has is checked when it is read (`import_snapshot`)."""
        return "/arguments/name", self.name

    def needs(self, target: JobTarget) -> Needs:
        """Return the disk and the memory, estimated from the size of the source."""
        size, packed = self._measured
        return source_needs(size, packed, index=self.index, vectors=self.vectors, check_only=self.check_only)

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Import the source; return the report. Every listed fault is kept in a file of the job."""
        place = self._place(run)
        try:
            report = import_source(
                place=place, mapping=self.mapping or None, name=self._name(place), accept_guess=self.guess,
                tolerance=self.tolerance, dry_run=self.check_only, index=self.index, embed=self.vectors,
                activate=self.activate, visibility=self.visibility, run=run,
            )  # fmt: skip
        except ImportFailed as failure:
            _keep_faults(failure.report, run)
            # The files of an upload never change, so the same fault would end every further attempt.
            if self.upload and isinstance(failure.__cause__, BundleError | InvalidRequest):
                run.notes.put(FINAL, True)
            raise
        _keep_faults(report, run)
        return report.to_json()

    def _place(self, run: RunContext) -> Path | Address:
        """Return where the source is, if the settings of now allow it; an upload is unpacked if it is not yet."""
        if not self.upload:
            return check_place(
                SourcePlace(neo4j=self.source) if is_neo4j(self.source) else SourcePlace(folder=self.source)
            )
        upload = find_upload(self.upload)
        if upload is None:
            raise UploadConflict("The upload was discarded.")
        unpack_upload(upload=upload, run=run)
        return content_of(self.upload)

    def _check(self) -> None:
        """Raise InvalidRequest or BundleError if the source or its mapping cannot be used."""
        if is_neo4j(self.source):
            check_place(SourcePlace(neo4j=self.source))
            label_mapping(self.mapping, self.name)
            return
        upload = self._upload
        if self.upload and upload is None:
            raise InvalidRequest([Fault("/upload", f"There is no upload {self.upload[:80]!r}.")])
        if upload is not None and upload.state != Upload.State.READY:
            if sentence := unfinished(upload):
                raise InvalidRequest([Fault("/upload", sentence)])
            if self.mapping:
                SourceMapping.from_json(self.mapping)
            return
        place = check_place(SourcePlace(upload=self.upload, folder=self.source))
        assert isinstance(place, Path)
        _, problem, bad_rows = measured_folder(
            place, self.mapping, self.name or self._called(), accept_guess=self.guess
        )
        if problem:
            raise BundleError(problem)
        if bad_rows > self.tolerance and not self.check_only:
            raise InvalidRequest([Fault("/tolerance", too_many(bad_rows, self.tolerance))])

    @cached_property
    def _measured(self) -> tuple[Size, int]:
        """The size of the source, and the bytes that have to be unpacked first."""
        if is_neo4j(self.source):
            try:
                return database_size(database(self.source)), 0
            except InvalidRequest:
                return Size(), 0
        upload = self._upload
        if upload is not None and upload.state != Upload.State.READY:
            received = sum(file.size for file in upload.files.all())
            return packed_size(received), received
        folder = Path(self.source or (upload.source if upload else "") or (upload.content if upload else ""))
        if self.source and folder.is_file():
            received = folder.stat().st_size
            return packed_size(received), received
        if (not self.source and upload is None) or not folder.is_dir():
            return Size(), 0
        try:
            size, _, _ = measured_folder(folder, self.mapping, self.name or self._called(), accept_guess=self.guess)
            return size, 0
        except InvalidRequest:
            return Size(), 0

    @property
    def _upload(self) -> Upload | None:
        return find_upload(self.upload) if self.upload else None

    def _name(self, place: Path | Address) -> str:
        """Return the name of the knowledge base, or an empty text where the source or the mapping has one."""
        if self.name or self.mapping or not self.upload or not isinstance(place, Path):
            return self.name
        return "" if detect(place).kind == "bundle" else base_name(self._called())

    def _called(self) -> str:
        """Return the name that a guess gives to the knowledge base of an upload; empty for other sources."""
        upload = self._upload
        return name_of(upload) if upload is not None else ""


def too_many(bad_rows: int, tolerance: int) -> str:
    """Return why an import would fail whose first rows have too many bad ones."""
    rows = "1 row is" if bad_rows == 1 else f"{bad_rows:,} rows are"
    tolerated = "none is" if tolerance == 0 else "1 is" if tolerance == 1 else f"{tolerance:,} are"
    return f"{rows} bad among those that were read, and {tolerated} tolerated, so nothing would be loaded."


def _pointer(pointer: str, at: str) -> str:
    """Return the pointer of a fault of a source or a mapping, as one of the job's arguments."""
    if pointer in ("", "/folder", "/neo4j", "/upload"):
        return at
    return f"/arguments{pointer if pointer.startswith('/mapping') else '/mapping' + pointer}"


def _keep_faults(report: ImportReport, run: RunContext) -> None:
    """Keep the faults in a file of the job, and write them to its log by kind and column."""
    groups = report.fault_groups
    for group in groups[:FAULTS_LOGGED]:
        run.log(str(group))
    if more := sum(group.rows for group in groups[FAULTS_LOGGED:]):
        run.log(f"… {more:,} more rows with other faults; the file of bad rows lists the first of them.")
    listed: list[dict[str, Any]] = [{"level": "bad", **asdict(fault)} for fault in report.faults]
    listed += [{"level": "remark", **asdict(remark)} for remark in report.remarks]
    listed += [{"level": "group", **group.to_json()} for group in groups if group.several]
    if listed:
        run.checkpoints.save(FAULTS_FILE, b"".join(orjson.dumps(line) + os.linesep.encode() for line in listed))
