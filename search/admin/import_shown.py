"""What the import pages show: unfinished imports, the state of an upload, the check of a source and its estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from search.admin.schema_drawing import drawing_of
from search.domain.errors import InvalidRequest
from search.domain.job_kinds import JobTarget
from search.domain.time_left import Estimator
from search.ingest.ends import NO_NODE
from search.jobs.import_kb import ImportJob
from search.models import Job, KnowledgeBase, Upload
from search.services.access.visitors import User
from search.services.imports.place import is_neo4j
from search.services.imports.preview_upload import name_of, preview_upload
from search.services.jobs.learned import history
from search.services.jobs.needs import available_memory, shortages
from search.services.uploads.unpack_upload import unfinished

CHUNK_MEGABYTES = 8
"""Size of the pieces that the browser sends; a smaller limit of the site goes first."""
UNFINISHED_SHOWN = 20
KINDS = {
    "bundle": "A bundle of this site", "neo4j_csv": "Files of neo4j-admin", "tables": "Plain files",
    "stark": "A processed folder of STaRK", "unknown": "Nothing that can be imported", "neo4j": "A Neo4j database",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An import that was begun: its row, its name, its state in words, and the bytes received and expected."""

    upload: Upload
    name: str
    state: str
    received: int
    size: int


def unfinished_imports() -> list[Unfinished]:
    """Return the newest uploads and named sources."""
    found = Upload.objects.select_related("user").prefetch_related("files")[:UNFINISHED_SHOWN]
    return [_unfinished(upload) for upload in found]


def _unfinished(upload: Upload) -> Unfinished:
    files = list(upload.files.all())
    received, size = sum(file.offset for file in files), sum(file.size for file in files)
    words = {Upload.State.READY: "ready to import", Upload.State.REFUSED: f"refused: {upload.reason}"}
    waiting = "received, not unpacked yet" if files and received == size else "not received completely"
    return Unfinished(
        upload, upload.source or name_of(upload) or "(no files)", words.get(Upload.State(upload.state), waiting),
        received, size,
    )  # fmt: skip


def sending(upload: Upload | None) -> dict[str, Any]:
    """Return what the page that sends files needs: the size of pieces, and the files that are there in part."""
    return {
        "upload": upload,
        "chunk": min(CHUNK_MEGABYTES, settings.GRASP_UPLOAD_CHUNK_MEGABYTES) << 20,
        "plain_limit": settings.GRASP_UPLOAD_CHUNK_MEGABYTES,
        "most": settings.GRASP_UPLOAD_MEGABYTES,
        "files": list(upload.files.all()) if upload else [],
        "missing": unfinished(upload) if upload else "",
    }


def unpacking(upload: Upload) -> Job | None:
    """Return the newest job that unpacks an upload."""
    return Job.objects.filter(kind="unpack", arguments__upload=str(upload.pk)).order_by("-created").first()


def wants_mapping(upload: Upload) -> bool:
    """Whether a person has to say what the columns are, and has not yet."""
    if upload.mapping or is_neo4j(upload.source):
        return False
    return looked_at(upload)["kind"] == "tables"


def arguments_of(upload: Upload, preview: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the import job that say what is imported."""
    mapping = upload.mapping or (preview["mapping"] if preview["kind"] == "tables" else None) or {}
    place = {"source": upload.source} if upload.source else {"upload": str(upload.pk)}
    return {**place, "mapping": mapping}


def looked_at(upload: Upload) -> dict[str, Any]:
    """Return the preview of a source, or an empty one whose `problem` says why nothing can be looked at.

    Of a database nothing is read before its import.
    """
    if is_neo4j(upload.source):
        return _empty("neo4j", "")
    try:
        return preview_upload(upload)
    except InvalidRequest as error:
        return _empty("unknown", " ".join(fault.sentence for fault in error.faults))


def _empty(kind: str, problem: str) -> dict[str, Any]:
    return {
        "kind": kind, "why": "", "name": "", "problem": problem, "mapping": None, "files": [], "faults": [],
        "fault_groups": [], "remarks": [], "warnings": [], "bad_rows": 0, "complete": False,
        "schema": {"node_types": [], "relation_types": []},
    }  # fmt: skip


def checked(upload: Upload, preview: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page of the check shows: the schema as a drawing and tables, faults, and the estimate."""
    job = ImportJob(**arguments_of(upload, preview))
    left = Estimator(job.parts(), 0.0, history=history("import")).estimate(0.0).left
    needs = job.needs(JobTarget())
    node_types = sorted(preview["schema"]["node_types"], key=lambda entry: -entry["count"])
    relations = sorted(preview["schema"]["relation_types"], key=lambda entry: -entry["count"])
    return {
        "preview": preview, "warnings": _warnings(preview),
        "fault_groups": [group_shown(group) for group in preview["fault_groups"]],
        "kind": KINDS[preview["kind"]], "drawing": drawing_of(preview["schema"]),
        "node_types": node_types, "relations": relations, "seconds": left and (left.low, left.high), "needs": needs,
        "shortages": [fault.message for fault in shortages(needs)], "available_memory": available_memory(),
        "files": [_rows(file, preview) for file in preview["files"] if file["role"] != "ignore"],
    }  # fmt: skip


def mends_of(preview: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the changes that the warnings offer, each with the key that its button sends."""
    return [(mend_key(warning, mend), mend) for warning in preview["warnings"] for mend in warning["mends"]]


def mend_key(warning: Mapping[str, Any], mend: Mapping[str, Any]) -> str:
    """Return what names a change in a form, without line breaks, which browsers rewrite."""
    return " · ".join((warning["kind"], warning["file"], warning["column"], mend["label"]))


def _warnings(preview: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {**warning, "mends": [{"label": mend["label"], "key": mend_key(warning, mend)} for mend in warning["mends"]]}
        for warning in preview["warnings"]
    ]


def group_shown(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return faults with their examples' sentences, and what is lost with each."""
    messages = list(dict.fromkeys(example["message"] for example in group["examples"]))
    lost = "relation" if group["kind"] in (NO_NODE, "no_end", "no_relation") else "row"
    then = f"The {lost} is left out." if group["rows"] == 1 else f"These {group['rows']:,} {lost}s are left out."
    return {**group, "messages": messages, "then": then}


def _rows(file: Mapping[str, Any], preview: Mapping[str, Any]) -> dict[str, Any]:
    # A bundle has one file of each, and states the counts, which is better than what its first rows let expect.
    count = preview[file["role"]] if preview["kind"] == "bundle" else file["rows"]
    names = [column["name"] for column in file["columns"]]
    rows = [[row.get(name, "") for name in names] for row in file["first_rows"]]
    return {"path": file["path"], "role": file["role"], "rows": count, "names": names, "first": rows}


def name_in(upload: Upload, preview: Mapping[str, Any]) -> str:
    """Return the name that the source or its mapping gives to the knowledge base."""
    if is_neo4j(upload.source):
        return upload.title
    mapping = upload.mapping or preview["mapping"]
    return str(mapping.get("name", "")) if mapping else preview["name"] or name_of(upload)


def there_already(name: str, user: User) -> KnowledgeBase | None:
    """Return the knowledge base that an import of this name would give a new release, if the user may see it."""
    visible = KnowledgeBase.objects.visible_to(user).select_related("active_release")
    return visible.filter(name=name).first() if name else None
