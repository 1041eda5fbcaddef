"""Finds out what kind of knowledge base a folder holds, and says why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from search.ingest.faults import BundleError, RowFault
from search.ingest.manifest import MANIFEST_FILE
from search.ingest.mapping.guess import Reason, guess_mapping
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.neo4j_csv import is_header, neo4j_mapping
from search.ingest.mapping.sniff import Sniffed, sniff, split_suffix
from search.ingest.readers import find

Kind = Literal["bundle", "neo4j_csv", "stark", "tables", "unknown"]
MOST_FILES = 1_000
"""Most files of a folder that are looked at."""
UNSURE = "unsure"
"""Kind of a fault that says what cannot be found out about a file, so that the mapping has to say it."""
NO_ROWS = "It has headings, but no row below them."
STARK_FILES = frozenset(
    ("node_info.pkl", "edge_index.pt", "edge_types.pt", "node_types.pt", "edge_type_dict.pkl", "node_type_dict.pkl")
)
STARK_ADVICE = (
    "This is a processed folder of STaRK, whose files are Python pickles. Reading a pickle may run any program in it, "
    "so it is never read here. On a machine and with files that you trust, run `manage.py convert_stark FOLDER "
    "NEW_FOLDER` and import the new folder."
)


@dataclass(frozen=True)
class Detected:
    """What a folder holds.

    `root` is the folder of the files (the given one, or the only folder in it). `mapping` is the mapping of the files
    of kind `neo4j_csv` (read from their headers) and `tables` (guessed); `reasons` say why, `faults` why a file cannot
    be read.
    """

    kind: Kind
    root: Path
    why: str
    files: tuple[Sniffed, ...] = ()
    mapping: SourceMapping | None = None
    reasons: tuple[Reason, ...] = ()
    faults: tuple[RowFault, ...] = field(default=())

    @property
    def told(self) -> tuple[RowFault, ...]:
        """What was found out about the files and may be wrong, for the report of an import with the guess."""
        notes = [fault for fault in self.faults if fault.kind == "note"]
        columns = [
            RowFault(reason.file, 0, "note", f"Column '{reason.column}': {reason.told}.")
            for reason in self.reasons if reason.told
        ]  # fmt: skip
        return (*notes, *columns)


def detect(folder: Path, called: str = "") -> Detected:
    """Return what the folder holds; BundleError if it cannot be read or has too many files.

    `called` becomes the name of the knowledge base in a guessed mapping (default: the folder's name).
    """
    root = _only_folder(folder)
    paths = list(files_of(root))
    names = {Path(path).name for path in paths}
    if MANIFEST_FILE in paths and _is_bundle(root):
        return Detected("bundle", root, f"it has {MANIFEST_FILE}, a file of entities and a file of relations")
    if len(STARK_FILES & names) >= 2:
        return Detected("stark", root, f"it has {', '.join(sorted(STARK_FILES & names))}. {STARK_ADVICE}")
    files, faults = _sniffed(root, paths)
    if any(is_header(one.columns) for one in files):
        mapping, reasons = neo4j_mapping(called or root.resolve().name, files)
        why = "the header of a file names :ID, or :START_ID and :END_ID, as neo4j-admin's files do"
        return Detected("neo4j_csv", root, why, tuple(files), mapping, tuple(reasons), tuple(faults))
    if files:
        mapping, reasons = guess_mapping(called or root.resolve().name, files)
        why = f"it has {len(files)} files of rows, and none of them belongs to a known format"
        return Detected("tables", root, why, tuple(files), mapping, tuple(reasons), tuple(faults))
    why = "it has no CSV, TSV, JSON lines or Parquet file that can be read"
    return Detected("unknown", root, why, faults=tuple(faults))


def files_of(root: Path) -> Iterator[str]:
    """Yield the paths of the files below the folder, sorted, without hidden ones and links; BundleError if too many."""
    found = []
    for parent, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "__MACOSX"))]
        found += [Path(parent, name) for name in names if not name.startswith(".")]
        if len(found) > MOST_FILES:
            raise BundleError(f"{root} has more than {MOST_FILES:,} files; import a folder of its own.")
    yield from sorted(path.relative_to(root).as_posix() for path in found if not path.is_symlink())


def root_of(folder: Path) -> Path:
    """Return the folder of the files: the given one, or the only folder in it; BundleError if it cannot be read."""
    return _only_folder(folder)


def _only_folder(folder: Path) -> Path:
    """Return the folder, or the only folder in it if there is nothing else: archives often hold one folder."""
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "__MACOSX"))]
    except OSError as error:
        raise BundleError(f"{folder} cannot be read: {error.strerror}.") from error
    if len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink():
        return _only_folder(entries[0])
    return folder


def _is_bundle(root: Path) -> bool:
    try:
        find(root, "nodes")
        find(root, "edges")
    except BundleError:
        return False
    return True


def _sniffed(root: Path, paths: list[str]) -> tuple[list[Sniffed], list[RowFault]]:
    files, faults = [], []
    for path in paths:
        if not split_suffix(path)[1] or Path(path).name == MANIFEST_FILE or path.lower().endswith("readme.txt"):
            continue
        try:
            one = sniff(root, path)
        except BundleError as error:
            faults.append(RowFault(path, 0, "unreadable", str(error)))
            continue
        files.append(one)
        # neo4j-admin has headers in files of their own.
        if one.complete and not one.sample and not one.bad_rows and not is_header(one.columns):
            faults.append(RowFault(path, 0, "no_rows", NO_ROWS))
        faults += [RowFault(path, number, row.kind, row.message) for number, row in one.bad_rows]
        faults += [RowFault(path, 0, "note", note) for note in one.notes]
        faults += [RowFault(path, 0, UNSURE, sentence) for sentence in one.unsure]
    return files, faults
