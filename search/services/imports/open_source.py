"""open_source: whatever holds a knowledge base, as the source that an import reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.read_all import DatabaseReader, ReadFailed
from search.domain.errors import Fault, InvalidRequest
from search.domain.run_context import RunContext
from search.ingest.detect import UNSURE, Detected, detect, root_of
from search.ingest.faults import BundleError
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.neo4j_live import NAMES, LabelMapping, fetch
from search.ingest.source import Source, bundle_source
from search.ingest.unpack.limits import UnpackRefused
from search.ingest.unpack.unpack import Received, unpack
from search.services.imports.scratch import FOLDER, scratch_folder
from search.services.uploads.unpack_upload import PART, limits

MappingJson = Mapping[str, Any]


class GuessNotAccepted(BundleError):
    """The folder holds plain files, and nobody has confirmed the guessed mapping; `detected` has it."""

    def __init__(self, detected: Detected) -> None:
        self.detected = detected
        super().__init__(
            f"{detected.root} holds plain files ({detected.why}), so a mapping has to say what their columns mean. "
            "One has been guessed; check it and pass it as the mapping."
        )


def folder_source(
    folder: Path, mapping: MappingJson | None = None, *, name: str = "", accept_guess: bool = False
) -> Source:
    """Return the source in a folder: a bundle, or other files with a mapping.

    Without `mapping` a bundle and neo4j-admin's files say themselves what they hold; the guess for other files is used
    with `accept_guess` only. Raises BundleError (GuessNotAccepted), InvalidRequest for a faulty mapping.
    """
    if mapping:
        return mapped_source(root_of(folder), SourceMapping.from_json(dict(mapping)))
    detected = detect(folder, name)
    if detected.kind == "bundle":
        return bundle_source(detected.root)
    if detected.mapping is None:
        told = "; ".join(str(fault) for fault in detected.faults[:5])
        raise BundleError(f"{folder} cannot be imported: {detected.why}. {told}".strip(), detected.faults)
    if detected.kind == "tables" and not accept_guess:
        raise GuessNotAccepted(detected)
    if unsure := [fault for fault in detected.faults if fault.kind == UNSURE]:
        raise BundleError(f"This has to be said in a mapping: {'; '.join(map(str, unsure[:5]))}", unsure)
    return replace(mapped_source(detected.root, detected.mapping), remarks=detected.told)


@contextmanager
def opened_source(
    place: Path | Address,
    mapping: MappingJson | None,
    run: RunContext,
    *,
    name: str = "",
    accept_guess: bool = False,
) -> Iterator[Source]:
    """Yield the source; what an archive's or a database's content needs on the disk is removed afterwards.

    The mapping of a database has the keys `types`, `relations`, `names`, `id_property` and `ignored` (labels). Raises
    BundleError and InvalidRequest.
    """
    if isinstance(place, Path) and place.is_dir():
        yield folder_source(place, mapping, name=name, accept_guess=accept_guess)
        return
    if isinstance(place, Path):
        with scratch_folder(settings.GRASP_HOME / FOLDER / uuid4().hex) as folder:
            received, total = [Received(place.name, place)], place.stat().st_size
            try:
                unpack(received, folder / "content", limits(), lambda done: run.progress(PART, done, total), run.check)
            except UnpackRefused as error:
                raise BundleError(str(error)) from error
            called = name or place.name.split(".")[0]
            yield folder_source(folder / "content", mapping, name=called, accept_guess=accept_guess)
        return
    labels, id_property, ignored = label_mapping(mapping or {}, name or place.database)
    reader = DatabaseReader(place, id_property, ignored)
    with scratch_folder(settings.GRASP_HOME / FOLDER / uuid4().hex) as folder:
        try:
            fetched = fetch(reader, labels, folder / "neo4j", lambda *told: _told(run, *told))
        except ReadFailed as error:
            raise BundleError(str(error)) from error
        yield replace(bundle_source(fetched), label=f"{place.uri}/{place.database}")


def _told(run: RunContext, part: str, done: int, total: int | None) -> None:
    run.check()
    run.progress(part, done, total)


def label_mapping(data: MappingJson, name: str) -> tuple[LabelMapping, str, tuple[str, ...]]:
    """Return the mapping of a database's labels, the property of ids, and the ignored labels; InvalidRequest."""
    known = ("name", "types", "relations", "names", "id_property", "ignored")
    faults = [Fault(f"/mapping/{key}", f"Known keys are {', '.join(known)}.") for key in data if key not in known]
    for key in ("types", "relations"):
        given = data.get(key) or {}
        if not isinstance(given, Mapping) or not all(isinstance(text, str) and text for text in given.values()):
            faults.append(Fault(f"/mapping/{key}", f"'{key}' is an object from the database's names to yours."))
    for key in ("names", "ignored"):
        given = data.get(key) or []
        if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
            faults.append(Fault(f"/mapping/{key}", f"'{key}' is a list of texts."))
    for key in ("name", "id_property"):
        if not isinstance(data.get(key) or "", str):
            faults.append(Fault(f"/mapping/{key}", f"'{key}' is a text."))
    if faults:
        raise InvalidRequest(faults)
    labels = LabelMapping(
        name=data.get("name") or name,
        types=dict(data.get("types") or {}),
        relations=dict(data.get("relations") or {}),
        names=tuple(data.get("names") or NAMES),
    )
    return labels, data.get("id_property") or "", tuple(data.get("ignored") or ())
