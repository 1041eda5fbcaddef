"""States of the admin's forms for the gallery: launching a job, an import, and a removal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from search.admin.gallery_parts import GIGABYTE, ID, LONG, WHEN, Page, base_of, page
from search.admin.import_forms import ImportForm, PlaceForm
from search.admin.import_mapping_form import AS_BEFORE, form_of, told_as_before
from search.admin.import_shown import KINDS, group_shown
from search.admin.job_form import LaunchForm
from search.admin.schema_drawing import drawing_of
from search.domain.errors import Fault
from search.ingest.ends import NO_NODE
from search.ingest.mapping.refit import Refitted
from search.models import Upload
from search.services.imports.remembered import Remembered
from search.services.jobs.kinds import describe_kinds, offered_kinds
from search.services.knowledge.removal import Removal

_LAUNCH = "admin/search/job/launch.html"


def _launching(given: Mapping[str, str] | None, kind: str = "evaluate") -> dict[str, Any]:
    form = LaunchForm(kind, given)
    for name in ("knowledge_base", "question_set"):
        if name in form.fields:
            form.fields[name].choices = [("films", "Films")]  # type: ignore[attr-defined]
    about = next(one for one in describe_kinds() if one["kind"] == kind)
    return {"form": form, "about": about, "title": f"Launch: {about['title']}"}


LAUNCH: Mapping[str, Page] = {
    "many": ("Which kind", page(_LAUNCH, lambda: {"kinds": offered_kinds()}, "Launch a job")),
    "one": ("One kind", page(_LAUNCH, lambda: _launching(None))),
    "error": ("Sent without its question set", page(_LAUNCH, lambda: _launching({}))),
    "settings": ("Settings of a learner", page(_LAUNCH, lambda: _launching(None, "train_reranker"))),
    "settings-error": (
        "A setting out of its bounds",
        page(_LAUNCH, lambda: _launching({"argument-settings.epochs": "900"}, "train_reranker")),
    ),
}
_UPLOAD = Upload(pk=ID, state="receiving", title="films.zip", created=WHEN)
_ROWS = [{"id": "f1", "title": "Amber Road", "director": "p1"}, {"id": "f2", "title": "Winter Light", "director": "p2"}]


def _preview(name: str = "title", **values: Any) -> dict[str, Any]:
    columns = [{"name": one, "because": why, "examples": [row.get(one, name) for row in _ROWS]}
               for one, why in (("id", "all its values differ"), (name, "its name says so"),
                                ("director", "its values are ids of persons.csv"))]  # fmt: skip
    return {
        "kind": "tables", "why": "", "problem": "", "complete": True, "bad_rows": 2, "mapping": None,
        "files": [{"path": f"{name}.csv", "role": "nodes", "rows": 61_204, "because": "each row has an id of its own",
                   "columns": columns, "first_rows": _ROWS}],
        "faults": [{"file": f"{name}.csv", "row": 17, "message": "The id p9 is not in persons.csv."}],
        "fault_groups": [{"kind": NO_NODE, "rows": 2, "examples": [
            {"file": f"{name}.csv", "row": row, "message": "The id p9 is not in persons.csv."} for row in (17, 20)
        ]}], "remarks": [], "warnings": [],
        "schema": {
            "node_types": [{"name": "film", "count": 61_204, "fields": [{"name": name, "kind": "text"}]},
                           {"name": "person", "count": 9_120, "fields": []}],
            "relation_types": [{"source": "film", "relation": "DIRECTED_BY", "target": "person", "count": 70_001}],
        },
    } | values  # fmt: skip


def _mapping(name: str = "title", faults: Sequence[Fault] = (), **values: Any) -> dict[str, Any]:
    preview = _preview(name)
    columns = {"id": {"use": "id"}, name: {"use": "name"}, "director": {"use": "edge", "relation": "DIRECTED_BY"}}
    mapping = {"name": "films", "files": [{"path": f"{name}.csv", "role": "nodes", "type": "film", "columns": columns}]}
    return {
        "step": 2,
        "upload": _UPLOAD,
        "preview": preview,
        "form": form_of(preview, mapping, faults),
        "faults": faults, "offered": (), "taken": None,
    } | values  # fmt: skip


def _numbered() -> dict[str, Any]:
    preview = _preview("plot")
    preview["files"][0]["because_ids"] = "no column says id, and none looks like one"
    columns = {"id": {"use": "ignore"}, "plot": {"use": "text"}, "director": {"use": "keyword"}}
    file = {"path": "plot.csv", "role": "nodes", "type": "film", "numbered": True, "columns": columns}
    return _mapping("plot", form=form_of(preview, {"name": "films", "files": [file]}))


def _taken() -> dict[str, Any]:
    remembered = _remembered("films")
    columns = {"id": {"use": "id"}, "title": {"use": "name"}, "director": {"use": "keyword"}}
    file = {"path": "title.csv", "role": "nodes", "type": "film", "columns": columns}
    form = form_of(told_as_before(_preview(), remembered.fitted, AS_BEFORE), {"name": "films", "files": [file]})
    return _mapping(form=form, taken=remembered)


def _remembered(name: str, begun: str = "") -> Remembered:
    return Remembered(name, Refitted({}, ("title.csv",), (("title.csv", "director"),)), WHEN, begun)


def _check(**values: Any) -> dict[str, Any]:
    preview = _preview(**values)
    schema = preview["schema"]
    files = [{"path": one["path"], "role": "nodes", "rows": one["rows"], "names": [c["name"] for c in one["columns"]],
              "first": [list(row.values()) for row in one["first_rows"]]} for one in preview["files"]]  # fmt: skip
    return {
        "fault_groups": [group_shown(group) for group in preview["fault_groups"]],
        "warnings": [{"message": "There is not one relation.", "mends": [
            {"label": "'director' leads to persons.csv", "key": "1"}, {"label": LONG, "key": "2"}]}],
        "step": 3, "upload": _UPLOAD, "form": ImportForm(initial={"name": "films"}), "there": None, "preview": preview,
        "kind": KINDS[preview["kind"]], "drawing": drawing_of(schema), "node_types": schema["node_types"],
        "relations": schema["relation_types"], "seconds": (75.0, 130.0), "files": files, "shortages": [],
        "needs": SimpleNamespace(disk=2 * GIGABYTE, memory=GIGABYTE), "available_memory": 6 * GIGABYTE,
    }  # fmt: skip


def _start(**values: Any) -> dict[str, Any]:
    begun = SimpleNamespace(name="films.zip", state="not received completely", received=3 << 20, size=9 << 20,
                            upload=SimpleNamespace(pk=ID, created=WHEN, user="ada"))  # fmt: skip
    return {"step": 1, "form": PlaceForm(), "fault": "", "unfinished": [begun], "upload": None, "chunk": 0,
            "plain_limit": 8, "most": 2000, "files": [], "missing": ""} | values  # fmt: skip


_IMPORT = "admin/search/import"
_TITLE = "Import a knowledge base"
_FAULT = Fault("/mapping/files/0/columns/director/relation", "A relation to other entities needs a name.")
IMPORT: Mapping[str, Page] = {
    "start": ("Choose a source; one was begun before", page(f"{_IMPORT}/start.html", _start, _TITLE)),
    "error": ("Nothing was taken", page(f"{_IMPORT}/start.html", lambda: _start(fault="Choose at least one file.",
                                                                                unfinished=[]), _TITLE)),
    "mapping": ("What the columns are", page(f"{_IMPORT}/mapping.html", _mapping, _TITLE)),
    "mapping-error": ("A column lacks its relation", page(f"{_IMPORT}/mapping.html", lambda: _mapping(faults=[_FAULT]),
                                                           _TITLE)),
    "mapping-faults": ("Faults of the name and of the file", page(f"{_IMPORT}/mapping.html", lambda: _mapping(faults=[
        Fault("/mapping/name", "This is no valid name."), Fault("/mapping/files/0/type", "Give the type."),
        Fault("/mapping/files/0/numbered", "No column has the use 'id'.")]), _TITLE)),
    "mapping-numbered": ("No column is an id", page(f"{_IMPORT}/mapping.html", _numbered, _TITLE)),
    "mapping-offered": ("An earlier import had such files", page(
        f"{_IMPORT}/mapping.html", lambda: _mapping(offered=[_remembered("films", "1"), _remembered(LONG)]), _TITLE)),
    "mapping-taken": ("The mapping of an earlier import", page(
        f"{_IMPORT}/mapping.html", _taken, _TITLE)),
    "mapping-long": ("Words that do not fit", page(f"{_IMPORT}/mapping.html", lambda: _mapping(LONG), _TITLE)),
    "check": ("What it would make", page(f"{_IMPORT}/check.html", _check, _TITLE)),
    "check-error": ("It cannot be imported", page(
        f"{_IMPORT}/check.html",
        lambda: _check(problem="No file holds entities.", bad_rows=0, faults=[], fault_groups=[]), _TITLE)),
}  # fmt: skip


def _removal(name: str, *, refused: Sequence[str] = ()) -> Callable[[], dict[str, Any]]:
    removal = Removal(
        (f"the knowledge base {name} with its description, members and settings", "3 releases", "2 trained parts",
         "14 evaluations"),
        ("the searches that were asked of it, without their links to entities", "the log of who did what"),
        tuple(refused),
    )  # fmt: skip
    return lambda: {"row": base_of(name), "removal": removal, "back": "#", "title": f"Delete {name}?"}


_REMOVAL = "admin/search/removal.html"
REMOVAL: Mapping[str, Page] = {
    "one": ("What goes and what stays", page(_REMOVAL, _removal("films"))),
    "error": ("It is in use", page(_REMOVAL, _removal("films", refused=[
        "A backup is running, and it reads this; try again when it has ended.",
        f"films is in use by the job {ID} (index); wait until this has ended, or cancel it."]))),
    "long-words": ("Words that do not fit", page(_REMOVAL, _removal(LONG))),
}  # fmt: skip
