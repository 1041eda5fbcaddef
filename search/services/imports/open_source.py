"""open_source: whatever holds a knowledge base, as the source that an import reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.read_all import DatabaseReader, ReadFailed
from search.domain.errors import Fault, InvalidRequest
from search.domain.run_context import RunContext
from search.ingest.faults import BundleError
from search.ingest.neo4j_live import NAMES, LabelMapping, fetch
from search.ingest.source import Source, bundle_source
from search.ingest.unpack.limits import UnpackRefused
from search.ingest.unpack.unpack import Received, unpack
from search.services.imports.folder_source import MappingJson, folder_source
from search.services.imports.scratch import FOLDER, scratch_folder
from search.services.uploads.unpack_upload import PART, limits


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
