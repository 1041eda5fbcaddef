"""The mapping page's form: a preview and its mapping as fields, and the fields as a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Any

from search.domain.errors import Fault
from search.ingest.formats import DATE_FORMATS, NUMBER_FORMATS
from search.ingest.manifest import FIELD_KINDS
from search.ingest.mapping.mapping import FileMapping
from search.ingest.mapping.refit import Refitted
from search.ingest.mapping.uses import DELIMITERS, ROLES
from search.ingest.text_formats import ENCODINGS

ROLE_WORDS = {"nodes": "entities, one a row", "edges": "relations, one a row", "ignore": "nothing: leave it out"}
DELIMITER_WORDS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar |"}
_KINDS = [(kind, f"field: {kind}") for kind in FIELD_KINDS]
USE_GROUPS: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (
    ("Any file", [("ignore", "not read"), ("field", "field: kind from its values"), *_KINDS]),
    (
        "Files of entities",
        [
            ("id", "id"), ("type", "type"), ("name", "name"), ("aliases", "other names"), ("url", "web address"),
            ("edge", "relation to other entities"),
        ],
    ),
    ("Files of relations", [("source", "source: where the relation begins"), ("target", "target: where it ends"),
                            ("relation", "name of the relation")]),
)  # fmt: skip
COLUMN_TEXTS = ("name", "prefix", "relation", "separator", "numbers", "dates", "unit", "makes")
FILE_TEXTS = ("type", "relation")
DATE_WORDS = {
    "iso": "2024-05-31", "words": "May 31, 2024", "dmy": "31/05/2024", "mdy": "05/31/2024", "ymd": "2024/05/31",
}  # fmt: skip
FILE_FIELDS = ("role", "type", "relation", "delimiter", "encoding", "numbered", "skip", "below")
"""Fields of a file beside which their faults stand."""
AS_BEFORE, AS_BEGUN = "as at the last import", "as at the import that was begun"
WRITTEN = ("delimiter", "encoding", "skip", "below")
SAID = {
    "numbers": "numbers as {}", "dates": "dates as {}", "unit": "in {}", "separator": "lists with {}",
    "prefix": "ids begin with {}",
    "by": "values of {}", "makes": "entities of type {}", "name": "called {}",
}  # fmt: skip
"""Key of a column → how its value is told in a line, the most telling first."""
KEY_SIGN = " · "
"""Between the file and the column of a key, in the choice of what the cells of a relation hold."""
ROWS = "rows"
"""Value of the choice that numbers the rows of a file."""


def form_of(preview: Mapping[str, Any], mapping: Mapping[str, Any], faults: Sequence[Fault] = ()) -> dict[str, Any]:
    """Return the form's content for the template: the name, and the files with their columns, values and faults."""
    looked_at = {file["path"]: file for file in preview["files"]}
    files = []
    for at, given in enumerate(mapping.get("files", [])):
        shown = looked_at.get(given["path"], {"columns": []})
        own = [fault for fault in faults if _path(fault)[:2] == ["files", str(at)]]
        columns = [
            _column(at, number, column, given, own)
            for number, column in enumerate(_columns(shown["columns"], given["columns"]))
        ]
        files.append({
            "prefix": f"f{at}", "path": given["path"], "because": shown.get("because", ""), "columns": columns,
            "because_type": shown.get("because_type", ""), "because_ids": shown.get("because_ids", ""),
            "numbered": given.get("numbered", False), "first_id": FileMapping(given["path"], "nodes").stem + "/2",
            "role": given["role"], "type": given.get("type", ""), "relation": given.get("relation", ""),
            "delimiter": given.get("delimiter", ","), "encoding": given.get("encoding", "utf-8"),
            "has_delimiter": given.get("format", "csv") == "csv", "skip": given.get("skip", 0),
            "below": given.get("below", 0),
            "has_skip": given.get("format", "csv") in ("csv", "tsv"), "has_encoding": given.get("format") != "parquet",
            "at": {field: _at(own, field) for field in FILE_FIELDS}, "written": _written(given),
            "written_open": any(_at(own, field) for field in WRITTEN),
            "notes": _notes(preview, given["path"]),
            "faults": [fault.sentence for fault in own
                       if _path(fault)[2:] not in [[field] for field in FILE_FIELDS]
                       and "columns" not in _path(fault)[2:-1]],
        })  # fmt: skip
    of_name = [fault.sentence for fault in faults if _path(fault) == ["name"]]
    general = [
        fault.sentence for fault in faults
        if _path(fault) != ["name"] and (_path(fault)[:1] != ["files"] or len(_path(fault)) < 2)
    ]  # fmt: skip
    return {
        "name": mapping.get("name", ""), "files": files, "questions": _questions(files), "keys": _keys(mapping),
        "faults": general, "name_faults": of_name,
        "use_groups": USE_GROUPS,
        "roles": [(role, ROLE_WORDS[role]) for role in ROLES], "encodings": ENCODINGS,
        "delimiters": [(mark, DELIMITER_WORDS[mark]) for mark in DELIMITERS],
        "number_formats": list(NUMBER_FORMATS), "date_formats": [(name, DATE_WORDS[name]) for name in DATE_FORMATS],
    }  # fmt: skip


def mapping_from(
    posted: Mapping[str, str], mapping: Mapping[str, Any], columns: Mapping[str, list[str]],
    choices: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]] = MappingProxyType({}),
) -> Any:  # fmt: skip
    """Return the mapping as the form changes it; `columns` are the columns of each file, by path.

    `choices` are the mappings between which a question lets choose, by path and column.

    What the form does not show (renamed types, `about`) stays. The result is not checked.
    """
    changed = deepcopy(dict(mapping))
    changed["name"] = posted.get("name", "").strip()
    for at, file in enumerate(changed.get("files", [])):
        prefix = f"f{at}"
        for key in ("role", "delimiter", "encoding"):
            if posted.get(f"{prefix}-{key}"):
                file[key] = posted[f"{prefix}-{key}"]
        for key in FILE_TEXTS:
            _set(file, key, posted.get(f"{prefix}-{key}", "").strip())
        for key in ("skip", "below"):
            if f"{prefix}-{key}" in posted:
                lines = posted[f"{prefix}-{key}"].strip()
                _set(file, key, int(lines) if lines.isascii() and lines.isdigit() and len(lines) < 9 else lines)
        if f"{prefix}-ids" in posted:
            _set(file, "numbered", posted[f"{prefix}-ids"] == ROWS)
        names = columns.get(file["path"]) or list(file["columns"])
        file["columns"] = {
            name: _answered(posted.get(f"{prefix}-c{number}-choice", ""), choices.get((file["path"], name), ()))
            or _posted_column(posted, f"{prefix}-c{number}", file["columns"].get(name, {}))
            for number, name in enumerate(names)
        }
    return changed


def told_as_before(preview: Mapping[str, Any], fitted: Refitted, because: str) -> dict[str, Any]:
    """Return the preview of files that got their earlier mapping: `because` stands in place of the guess's reasons."""
    told = [
        file if file["path"] not in fitted.known else {
            **file, "because": "", "because_type": "", "because_ids": "",
            "columns": [
                column if (file["path"], column["name"]) in fitted.new else {**column, "because": because}
                for column in file["columns"]
            ],
        }
        for file in preview["files"]
    ]  # fmt: skip
    return {**preview, "files": told}


def columns_of(preview: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return path → names of the columns, in the order in which the form numbers them."""
    return {file["path"]: [column["name"] for column in file["columns"]] for file in preview["files"]}


def choices_of(preview: Mapping[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return path and column → the mappings that read its values in one way each."""
    return {
        (file["path"], column["name"]): [choice["mapping"] for choice in column.get("choices", ())]
        for file in preview["files"]
        for column in file["columns"]
    }


def _answered(answer: str, choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mapping that answers a question, an empty one where there is no answer."""
    at = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 3 else len(choices)
    return dict(choices[at]) if at < len(choices) else {}


def _questions(files: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns whose values can be read in two ways, and of which nobody has said which."""
    return [
        {"path": file["path"], **{key: column[key] for key in ("label", "prefix", "choices")}}
        for file in files
        if file["role"] != "ignore"
        for column in file["columns"]
        if column["choices"] and column["use"] in ("text", "keyword")
    ]


def _keys(mapping: Mapping[str, Any]) -> list[str]:
    """Return the columns of nodes whose values may stand in other files instead of ids."""
    return [
        f"{file['path']}{KEY_SIGN}{name}"
        for file in mapping.get("files", [])
        if file["role"] == "nodes"
        for name, column in file["columns"].items()
        if column.get("use") in ("name", "keyword", "text", "field")
    ]


def _posted_column(posted: Mapping[str, str], prefix: str, before: Mapping[str, Any]) -> dict[str, Any]:
    column = dict(before)
    column["use"] = posted.get(f"{prefix}-use") or before.get("use", "ignore")
    for key in COLUMN_TEXTS:
        if f"{prefix}-{key}" in posted:
            _set(column, key, posted[f"{prefix}-{key}"].strip())
    if f"{prefix}-missing" in posted:
        words = [word.strip() for word in posted[f"{prefix}-missing"].split(",")]
        _set(column, "missing", [word for word in words if word])
    if f"{prefix}-shown" in posted:
        _set(column, "reverse", f"{prefix}-reverse" in posted)
        _set(column, "lenient", f"{prefix}-lenient" in posted)
    if f"{prefix}-key" in posted:
        path, _, by = posted[f"{prefix}-key"].partition(KEY_SIGN)
        _set(column, "of", path)
        _set(column, "by", by)
    return column


def _set(given: dict[str, Any], key: str, value: Any) -> None:
    """Set a value; an empty one is the default, and left out."""
    if value:
        given[key] = value
    else:
        given.pop(key, None)


def _columns(looked_at: Sequence[Mapping[str, Any]], given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(looked_at) or [{"name": name, "because": "", "examples": []} for name in given]


def _column(
    at: int, number: int, column: Mapping[str, Any], file: Mapping[str, Any], faults: Sequence[Fault]
) -> dict[str, Any]:
    use = file["columns"].get(column["name"]) or {"use": "ignore"}
    texts = {key: use.get(key, "") for key in COLUMN_TEXTS}
    mine = [fault.sentence for fault in faults if _path(fault)[2:4] == ["columns", column["name"]]]
    missing = ", ".join(use.get("missing", ()))
    return {
        "prefix": f"f{at}-c{number}", "label": column["name"], "use": use.get("use", "ignore"),
        "read": column.get("read", []), "choices": column.get("choices", []), "lenient": use.get("lenient", False),
        "key": f"{use['of']}{KEY_SIGN}{use['by']}" if use.get("by") and use.get("of") else "",
        "unit": texts["unit"], "makes": texts["makes"],
        "because": column["because"], "examples": [text for text in column["examples"] if text],
        "reverse": use.get("reverse", False), "faults": mine, "said": _said(use),
        "name": texts["name"], "relation": texts["relation"], "missing": missing,
        "numbers": texts["numbers"], "dates": texts["dates"],
        "separator": texts["separator"], "prefix_text": texts["prefix"],
    }  # fmt: skip


def _said(use: Mapping[str, Any]) -> str:
    """Return in a line what the mapping says of a column besides its use."""
    told = [words.format(DATE_WORDS.get(use[key], use[key])) for key, words in SAID.items() if use.get(key)]
    if use.get("missing"):
        told.append(f"no value: {', '.join(use['missing'])}")
    if use.get("lenient"):
        told.append("a cell that does not fit is left empty")
    return "; ".join(told)


def _written(file: Mapping[str, Any]) -> str:
    """Return in a line how a file is written."""
    told = [DELIMITER_WORDS[file.get("delimiter", ",")]] if file.get("format", "csv") == "csv" else [file["format"]]
    told += [file.get("encoding", "utf-8")] if file.get("format") != "parquet" else []
    for key, where in (("skip", "above"), ("below", "below")):
        if file.get(key):
            told.append(f"{file[key]} {where} the table not read")
    return ", ".join(told)


def _notes(preview: Mapping[str, Any], path: str) -> list[str]:
    """Return what was found out about a file as a whole, or could not be."""
    told = (*preview.get("faults", ()), *preview.get("remarks", ()))
    return [
        one["message"] for one in told
        if one["file"] == path and one.get("kind") in ("unsure", "note") and not one["message"].startswith("Column ")
    ]  # fmt: skip


def _at(faults: Sequence[Fault], field: str) -> list[str]:
    return [fault.sentence for fault in faults if _path(fault)[2:] == [field]]


def _path(fault: Fault) -> list[str]:
    """Return the keys of a fault's JSON pointer, without `/mapping`."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in fault.pointer.split("/")[1:]]
    return keys[1:] if keys[:1] == ["mapping"] else keys
