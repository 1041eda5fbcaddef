"""Bad cells, bad encodings and bad mappings are told with their file, line and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.errors import InvalidRequest
from search.ingest.detect import detect
from search.ingest.faults import BundleError, FaultLog
from search.ingest.mapping.mapping import ColumnMapping, FileMapping, SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.mapping.uses import DELIMITERS, FIELD_USES, NODE_USES
from search.ingest.readers import BundleFile, rows
from search.ingest.text_formats import Dialect
from search.ingest.validate import check

PEOPLE: dict[str, Any] = {
    "name": "people",
    "files": [
        {
            "path": "people.csv",
            "role": "nodes",
            "type": "person",
            "columns": {
                "id": {"use": "id"},
                "name": {"use": "name"},
                "age": {"use": "number"},
                "born": {"use": "date"},
            },
        }
    ],
}


def faults(folder: Path, text: bytes, mapping: dict[str, Any] = PEOPLE) -> list[tuple[int, str, str]]:
    (folder / "people.csv").write_bytes(text)
    log = FaultLog()
    check(mapped_source(folder, SourceMapping.from_json(mapping)), log)
    return [(fault.row, fault.kind, fault.message) for fault in log.faults]


def test_each_bad_cell_is_told_with_its_line(tmp_path: Path) -> None:
    text = b'id,name,age,born\n1,Ada,36,1970-01-01\n2,Bo,old,soon\n,Cy,1,\n4,Di\n1,Ed,,\n6,"Fa\nGo",x,\n'
    assert [(row, kind) for row, kind, _ in faults(tmp_path, text)] == [
        (3, "bad_value"), (4, "no_id"), (5, "bad_columns"), (6, "duplicate_id"), (7, "bad_value"),
    ]  # fmt: skip
    assert faults(tmp_path, text)[0][2] == (
        "Column 'age': 'old' is not a number. "
        "Column 'born': 'soon' is not a date as ISO 8601 writes it (such as 2024-05-31)."
    )


def test_a_decimal_comma_is_told_with_the_number_to_write(tmp_path: Path) -> None:
    [(_, _, message)] = faults(tmp_path, b'id,name,age,born\n1,Ada,"36,5",\n')
    assert message == "Column 'age': '36,5' is not a number; write it 36.5, or give the column's format of numbers."


def test_an_edge_to_a_bad_row_names_that_row_and_ids_that_were_not_separated_are_told(tmp_path: Path) -> None:
    columns = PEOPLE["files"][0]["columns"] | {"of": {"use": "edge", "relation": "knows", "separator": ";"}}
    text = b'id,name,age,born,of\n1,Ada,1,,\n2,Bo,old,,\n3,Cy,1,,2\n4,Di,1,,"1,3"\n5,Ed,1,,1;3\n6,Fa,1,,9\n'
    found = faults(tmp_path, text, {**PEOPLE, "files": [{**PEOPLE["files"][0], "columns": columns}]})
    assert [(row, message) for row, kind, message in found if kind == "no_such_node"] == [
        (4, "Column 'of': the target '2' was left out: row 3 of people.csv is bad. Mended there, this is good."),
        (5, "Column 'of': there is no entity '1,3', but one for each part between ',': separate them as the other "
            "cells do."),
        (7, "Column 'of': there is no entity '9'."),
    ]  # fmt: skip


def test_latin_1_is_told_with_its_line_and_read_with_its_encoding(tmp_path: Path) -> None:
    text = "id,name,age,born\n1,Ada,1,\n2,Café Zürich,2,\n3,Bo,3,\n".encode("latin-1")
    [(row, kind, message)] = faults(tmp_path, text)
    assert (row, kind) == (3, "bad_encoding")
    assert "byte 0xe9" in message
    assert "'Café Zürich'" in message
    [file] = PEOPLE["files"]
    assert faults(tmp_path, text, {**PEOPLE, "files": [{**file, "encoding": "latin-1"}]}) == []
    detected = detect(tmp_path)
    assert detected.mapping is not None
    assert detected.mapping.files[0].encoding == "cp1252"
    assert [(fault.kind, "people.csv:3: byte 0xe9" in fault.message) for fault in detected.faults] == [("note", True)]


def test_utf_16_is_told_and_read_with_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id,name\n1,Ada\n", encoding="utf-16")
    with pytest.raises(BundleError, match="UTF-16"):
        list(rows(BundleFile(path, "csv"), lambda done: None))
    read = rows(BundleFile(path, "csv", dialect=Dialect(encoding="utf-16")), lambda done: None)
    assert list(read) == [(2, {"id": "1", "name": "Ada"})]


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.ingest.text_formats.LONGEST_LINE", 1_000)
    for name, form in (("a.jsonl", "jsonl"), ("a.csv", "csv"), ("a.tsv", "tsv")):
        (tmp_path / name).write_bytes(b"id\n" + b"x" * 5_000)
        with pytest.raises(BundleError, match=f"{name}:2: This line is longer"):
            list(rows(BundleFile(tmp_path / name, form), lambda done: None))


def test_two_kinds_of_one_field_are_refused_with_both_files(tmp_path: Path) -> None:
    columns = {"id": {"use": "id"}, "age": {"use": "number"}}
    files = [
        {"path": "a.csv", "role": "nodes", "type": "person", "columns": columns},
        {"path": "b.csv", "role": "nodes", "type": "person", "columns": columns | {"age": {"use": "text"}}},
    ]
    (tmp_path / "a.csv").write_text("id,age\n1,2\n")
    (tmp_path / "b.csv").write_text("id,age\n3,old\n")
    with pytest.raises(BundleError, match=r"'age' of 'person' is number in a\.csv and text in b\.csv"):
        check(mapped_source(tmp_path, SourceMapping.from_json({"name": "x", "files": files})), FaultLog())


def test_a_missing_file_or_column_is_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name\n1,Ada\n")
    with pytest.raises(BundleError) as error:
        mapped_source(tmp_path, SourceMapping.from_json(PEOPLE))
    assert [fault.message for fault in error.value.faults] == [
        "There is no column 'age'; the file has id, name.",
        "There is no column 'born'; the file has id, name.",
    ]
    (tmp_path / "people.csv").unlink()
    with pytest.raises(BundleError, match="There is no such file"):
        mapped_source(tmp_path, SourceMapping.from_json(PEOPLE))


def test_a_link_out_of_the_folder_is_no_file_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("id,name,age,born\n1,Ada,1,\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "people.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(BundleError, match="There is no such file"):
        mapped_source(tmp_path / "in", SourceMapping.from_json(PEOPLE))
    assert detect(tmp_path / "in").kind == "unknown"


def one_file(**given: Any) -> dict[str, Any]:
    return {"name": "a", "files": [{"path": "x.csv", "role": "nodes", **given}]}


BAD_MAPPINGS = [
    ([], ""),
    ({"files": []}, "/name"),
    ({"name": "a"}, "/files"),
    ({"name": "a", "files": [], "colums": 1}, "/colums"),
    ({"name": "a", "files": [7]}, "/files/0"),
    (one_file(path="../x.csv"), "/files/0/path"),
    (one_file(path="/etc/x.csv"), "/files/0/path"),
    (one_file(role="nodez"), "/files/0/role"),
    (one_file(columns={"c": {"use": "source"}}), "/files/0/columns/c/use"),
    (one_file(columns={"c": {"use": "edge"}}), "/files/0/columns/c/relation"),
    (one_file(columns={"a/b": 3}), "/files/0/columns/a~1b"),
    (one_file(role="edges", columns={}), "/files/0/relation"),
    (one_file(encoding="koi8"), "/files/0/encoding"),
    ({"name": "a", "types": {"x": ""}, "files": []}, "/types/x"),
    ({"name": "a", "version": 9, "files": []}, "/version"),
    ({"name": "\ud800", "files": []}, ""),
]


@pytest.mark.parametrize(("mapping", "pointer"), BAD_MAPPINGS)
def test_a_faulty_mapping_is_refused_with_the_place_of_each_fault(mapping: Any, pointer: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        SourceMapping.from_json(mapping)
    assert pointer in [fault.pointer for fault in error.value.faults]


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
prefixes = st.text("ab:/", max_size=5)


def fields(draw: st.DrawFn) -> dict[str, ColumnMapping]:
    """Return columns of fields with distinct names."""
    found = draw(
        st.dictionaries(names, st.tuples(st.sampled_from([*FIELD_USES, "ignore"]), st.sampled_from(["", "|", ";"])))
    )
    return {name: ColumnMapping(use, separator=separator) for name, (use, separator) in found.items()}


@st.composite
def files(draw: st.DrawFn, path: str, role: str) -> FileMapping:
    columns = fields(draw)
    required = {"nodes": ("id",), "edges": ("source", "target")}.get(role, ())
    for use in required:
        columns[f"\t{use}"] = ColumnMapping(use, prefix=draw(prefixes))
    if role == "nodes":
        columns["\tedge"] = ColumnMapping("edge", relation=draw(names), reverse=draw(st.booleans()))
    given_names = draw(st.lists(names, unique=True, max_size=3))
    return FileMapping(
        path, role, delimiter=draw(st.sampled_from(DELIMITERS)), names=tuple(given_names), header=draw(st.booleans()),
        type=draw(names) if role == "nodes" else "", relation=draw(names) if role == "edges" else "", columns=columns,
    )  # fmt: skip


@given(st.data())
def test_a_mapping_survives_being_written_as_json(data: st.DataObject) -> None:
    mapping = SourceMapping(
        "base",
        tuple(data.draw(files(f"{i}.csv", role)) for i, role in enumerate(("nodes", "edges", "ignore"))),
        types=data.draw(st.dictionaries(names, names.filter(str.strip))),
        about={"title": data.draw(names)},
    )
    assert SourceMapping.from_json(json.loads(json.dumps(mapping.to_json()))) == mapping


keys = st.sampled_from(["name", "files", "path", "role", "columns", "use", "types", "names", "about", "x"])
scalars = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner)))
def test_no_json_at_all_breaks_the_reading_of_a_mapping(data: Any) -> None:
    with pytest.raises(InvalidRequest) as error:
        # No mapping that is drawn here has a column with the use `id`, so none is right.
        SourceMapping.from_json(data)
    assert error.value.faults


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=12)


@given(
    rows=st.lists(st.tuples(cells, cells), max_size=5),
    use=st.sampled_from([use for use in NODE_USES if use not in ("id", "type", "edge")]),
)
def test_any_cell_gives_a_node_or_a_fault_never_an_error(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], use: str
) -> None:
    folder = tmp_path_factory.mktemp("cells")
    (folder / "n.jsonl").write_text("".join(json.dumps({"id": id_, "value": value}) + "\n" for id_, value in rows))
    columns = {"id": {"use": "id"}, "value": {"use": use}}
    file = {"path": "n.jsonl", "role": "nodes", "format": "jsonl", "type": "t", "columns": columns}
    log = FaultLog()
    found = check(mapped_source(folder, SourceMapping.from_json({"name": "x", "files": [file]})), log)
    assert len(found.key_of) + log.bad_rows == len(rows)
    assert len(list(found.good_nodes())) == len(found.key_of)
    assert all(fault.row for fault in log.faults)
