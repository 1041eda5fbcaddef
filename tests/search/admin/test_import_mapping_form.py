"""The mapping page shows how files and columns are written, and takes it back as it was."""

from __future__ import annotations

from typing import Any

from search.admin.import_mapping_form import form_of, mapping_from
from search.ingest.mapping.faults import faults_of

COLUMNS: dict[str, Any] = {
    "id": {"use": "id"},
    "price": {"use": "number", "numbers": "1.234,5", "missing": ["NULL", "n/a"]},
    "made": {"use": "date", "dates": "dmy"},
}
MAPPING: dict[str, Any] = {
    "name": "shop",
    "files": [
        {"path": "a.csv", "role": "nodes", "type": "thing", "encoding": "gb18030", "skip": 2, "columns": COLUMNS}
    ],
}
NOTE = {"file": "a.csv", "row": 0, "kind": "note", "message": "a.csv:2: byte 0xb1 is not UTF-8."}
PREVIEW: dict[str, Any] = {
    "files": [{"path": "a.csv", "columns": [{"name": name, "because": "", "examples": []} for name in COLUMNS]}],
    "faults": [], "remarks": [NOTE],
}  # fmt: skip


def test_what_the_form_shows_it_takes_back() -> None:
    form = form_of(PREVIEW, MAPPING)
    [file] = form["files"]
    assert (file["encoding"], file["skip"], file["notes"]) == ("gb18030", 2, [NOTE["message"]])
    assert file["columns"][1]["missing"] == "NULL, n/a"
    posted = {"name": "shop", "f0-encoding": file["encoding"], "f0-skip": str(file["skip"]), "f0-type": "thing"}
    for column in file["columns"]:
        posted |= {f"{column['prefix']}-{key}": column[key] for key in ("use", "numbers", "dates", "missing")}
    assert mapping_from(posted, MAPPING, {"a.csv": list(COLUMNS)}) == MAPPING


def test_lines_that_are_no_number_are_told_beside_their_field() -> None:
    posted = {"name": "shop", "f0-skip": "two", "f0-type": "thing"}
    wrong = mapping_from(posted, MAPPING, {"a.csv": list(COLUMNS)})
    [fault] = faults_of(wrong)
    assert fault.pointer == "/files/0/skip"
    [file] = form_of(PREVIEW, wrong, [fault])["files"]
    assert file["at"]["skip"] == ["'skip' is the number of lines above the table, 0 to 10,000."]
