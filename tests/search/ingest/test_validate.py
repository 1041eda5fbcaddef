"""The first pass: what is found in a bundle, good and bad."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from search.domain.graph import Field, Relation, RelationType
from search.ingest.faults import BundleError, FaultLog
from search.ingest.readers import COMPRESSIONS
from search.ingest.validate import CheckedBundle, check
from tests.search.ingest import bundles

GOOD = {"id": "a", "type": "film", "name": "A", "fields": {}}


def checked(folder: Path, log: FaultLog | None = None) -> CheckedBundle:
    return check(folder, log if log is not None else FaultLog())


def faults(folder: Path) -> list[tuple[str, int, str]]:
    log = FaultLog()
    check(folder, log)
    return [(fault.file, fault.row, fault.kind) for fault in log.faults]


def test_keys_follow_the_bytes_of_ids_and_edges_are_sorted(tmp_path: Path) -> None:
    # In UTF-8, 'Z' (5a) < 'a' (61) < 'é' (c3 a9) < '￿' (ef bf bf) < '𝒜' (f0 9d 92 9c); UTF-16 would swap the last two.
    ids = ["é", "𝒜", "a", "￿", "Z"]
    nodes = [{**GOOD, "id": id_} for id_ in ids]
    edges = [{"source": "𝒜", "relation": "R", "target": "Z"}, {"source": "a", "relation": "R", "target": "é"}]
    found = checked(bundles.write(tmp_path, nodes, edges))
    assert [ids[position] for position in np.argsort(found.key_of)] == ["Z", "a", "é", "￿", "𝒜"]
    assert list(zip(found.edges.source.tolist(), found.edges.target.tolist(), strict=True)) == [(1, 2), (4, 0)]


def test_counts_are_taken_from_the_rows(tmp_path: Path) -> None:
    edges = [
        {"source": "f2", "relation": "DIRECTED_BY", "target": "p1"},
        {"source": "f1", "relation": "DIRECTED_BY", "target": "p1"},
        {"source": "p1", "relation": "SAW", "target": "f1"},
        {"source": "f1", "relation": "SEQUEL_OF", "target": "f2"},
    ]
    wording = {"source": "person", "relation": "SAW", "target": "film", "description": "saw", "inverse": "was seen by"}
    unused = {"source": "film", "relation": "UNUSED", "target": "film", "count": 9}
    again = {"relation": "SAW", "aliases": ["watched"], "description": "looked at"}
    schema = checked(bundles.write(tmp_path, edges=edges, relation_types=[unused, wording, again])).schema
    assert [(t.name, t.count) for t in schema.node_types] == [("film", 2), ("person", 1)]
    assert schema.node_types[0].fields == (
        Field("plot", "text", False, 1, True),
        Field("year", "number", False, 2, True),
    )
    assert schema.relations == (
        Relation("SAW", "saw", "was seen by", ("watched",)),
        Relation("DIRECTED_BY"),
        Relation("SEQUEL_OF"),
    )
    assert set(schema.relation_types) == {
        RelationType("film", "DIRECTED_BY", "person", 2),
        RelationType("person", "SAW", "film", 1),
        RelationType("film", "SEQUEL_OF", "film", 1),
    }


def test_edges_that_repeat_are_loaded_once_and_remarked_on(tmp_path: Path) -> None:
    edges = [*bundles.EDGES, bundles.EDGES[0], bundles.EDGES[0]]
    log = FaultLog()
    found = checked(bundles.write(tmp_path, edges=edges), log)
    assert (len(found.edges), found.edges.doubles, log.bad_rows) == (2, 2, 0)
    assert log.remark_kinds == {"double_edge": 2}


BAD_NODES = [
    ({"id": "x", "type": "song", "name": "X"}, "unknown_type"),
    ({"id": "x", "type": ["film"], "name": "X"}, "unknown_type"),
    ({"id": "f1", "type": "film", "name": "X"}, "duplicate_id"),
    ({"id": "x", "type": "film"}, "no_name"),
    ({"id": "x", "type": "film", "name": "  "}, "no_name"),
    ({"id": "x", "type": "film", "name": "a\0b"}, "nul"),
    ({"type": "film", "name": "X"}, "no_id"),
    ({"id": "", "type": "film", "name": "X"}, "no_id"),
    ({"id": 1.5, "type": "film", "name": "X"}, "no_id"),
    ({"id": "é" * 257, "type": "film", "name": "X"}, "long_id"),
    ({"id": "a\0", "type": "film", "name": "X"}, "nul"),
    ({"id": "x", "type": "film", "name": "X", "fields": {"f": {"nested": 1}}}, "bad_value"),
    ({"id": "x", "type": "film", "name": "X", "fields": {"f": [["nested"]]}}, "bad_value"),
    ({"id": "x", "type": "film", "name": "X", "fields": {"f": "a\0"}}, "nul"),
    ({"id": "x", "type": "film", "name": "X", "fields": {"f": ["a\0"]}}, "bad_value"),
    ({"id": "x", "type": "film", "name": "X", "fields": [1]}, "bad_fields"),
    ({"id": "x", "type": "film", "name": "X", "aliases": [1]}, "bad_alias"),
    ({"id": "x", "type": "film", "name": "X", "url": 5}, "bad_url"),
]


@pytest.mark.parametrize(("node", "kind"), BAD_NODES, ids=[f"{kind}-{i}" for i, (_, kind) in enumerate(BAD_NODES)])
def test_a_bad_node_is_told_with_its_row(tmp_path: Path, node: dict[str, object], kind: str) -> None:
    assert faults(bundles.write(tmp_path, [*bundles.NODES, node])) == [("nodes.jsonl", 4, kind)]


BAD_EDGES = [
    ({"source": "f1", "relation": "R", "target": "nowhere"}, "no_such_node"),
    ({"source": "nowhere", "relation": "R", "target": "f1"}, "no_such_node"),
    ({"source": "f1", "relation": "", "target": "f2"}, "no_relation"),
    ({"source": "f1", "target": "f2"}, "no_relation"),
    ({"source": "f1", "relation": "R" * 201, "target": "f2"}, "bad_relation"),
    ({"relation": "R", "target": "f2"}, "no_source"),
    ({"source": "f1", "relation": "R", "target": ["f2"]}, "no_target"),
    ({"source": "f1", "relation": "R", "target": "f2", "since": {"year": 1}}, "bad_value"),
    ({"source": "f1", "relation": "R", "target": "f2", "properties": [1]}, "bad_properties"),
]


@pytest.mark.parametrize(("edge", "kind"), BAD_EDGES, ids=[f"{kind}-{i}" for i, (_, kind) in enumerate(BAD_EDGES)])
def test_a_bad_edge_is_told_with_its_row(tmp_path: Path, edge: dict[str, object], kind: str) -> None:
    assert faults(bundles.write(tmp_path, edges=[*bundles.EDGES, edge])) == [("edges.jsonl", 3, kind)]


def test_an_id_of_512_bytes_is_not_too_long(tmp_path: Path) -> None:
    assert faults(bundles.write(tmp_path, [{**GOOD, "id": "é" * 256}], [])) == []


def test_lines_that_are_no_json_or_no_utf8_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    bundles.write(tmp_path)
    good = bundles.lines(bundles.NODES).splitlines(keepends=True)
    bad = [b'{"id": "x"\n', b'{"id": "\xff", "type": "film", "name": "X"}\n', b"[1]\n", b"\n", b'"\\ud800"\n']
    (tmp_path / "nodes.jsonl").write_bytes(b"".join([good[0], *bad, *good[1:]]))
    assert faults(tmp_path) == [
        ("nodes.jsonl", 2, "bad_json"),
        ("nodes.jsonl", 3, "bad_encoding"),
        ("nodes.jsonl", 4, "bad_json"),
        ("nodes.jsonl", 6, "bad_json"),
    ]


def test_every_fault_of_a_row_is_in_its_message(tmp_path: Path) -> None:
    log = FaultLog()
    check(bundles.write(tmp_path, [{"id": "", "type": "song", "name": ""}], []), log)
    assert log.bad_rows == 1
    assert all(part in log.faults[0].message for part in ("'id' has to be", "Unknown type 'song'", "no name"))


def test_faults_beyond_the_cap_are_counted_by_kind(tmp_path: Path) -> None:
    nodes = [{"id": f"x{i}", "type": "song", "name": "X"} for i in range(7)] + [{"id": "y", "type": "film"}]
    log = FaultLog(kept=3)
    check(bundles.write(tmp_path / "bundle", nodes, []), log)
    assert (log.bad_rows, len(log.faults), log.kinds) == (8, 3, {"unknown_type": 7, "no_name": 1})
    log.write(tmp_path / "report.jsonl")
    report = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    assert [(line["level"], line.get("row")) for line in report] == [
        ("bad", 1),
        ("bad", 2),
        ("bad", 3),
        ("group", None),
        ("total", None),
    ]
    assert report[-1]["not_listed"] == 5


def test_a_declared_number_has_to_be_one(tmp_path: Path) -> None:
    types = {"film": {"fields": {"year": {"type": "number"}}}, "person": {}}
    nodes = [*bundles.NODES, {"id": "x", "type": "film", "name": "X", "fields": {"year": "long ago"}}]
    assert faults(bundles.write(tmp_path, nodes, node_types=types)) == [("nodes.jsonl", 4, "bad_value")]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_faults_of_tables_are_told_by_line(tmp_path: Path, form: str) -> None:
    bundles.write(tmp_path, form=form)
    tab = "," if form == "csv" else "\t"
    header, *rows = (tmp_path / f"nodes.{form}").read_bytes().splitlines(keepends=True)
    bad = [
        f"x{tab}song{tab}X{tab}{tab}\n".encode(),
        f"x{tab}film\n".encode(),
        f"x{tab}film{tab}\xff{tab}{tab}\n".encode("latin-1"),
    ]
    quoted = f'q{tab}film{tab}"Two\nlines"{tab}{tab}\n'.encode()
    (tmp_path / f"nodes.{form}").write_bytes(b"".join([header, quoted, *bad, *rows]))
    assert faults(tmp_path) == [
        (f"nodes.{form}", 4, "unknown_type"),
        (f"nodes.{form}", 5, "bad_columns"),
        (f"nodes.{form}", 6, "bad_encoding"),
    ]


def test_rows_of_parquet_are_told_by_number(tmp_path: Path) -> None:
    nodes = [dict(node) for node in bundles.NODES] + [{"id": "x", "type": "song", "name": "X", "fields": {}}]
    assert faults(bundles.write(tmp_path, nodes, form="parquet")) == [("nodes.parquet", 4, "unknown_type")]


FORMATS = [(form, packed) for form in ("jsonl", "csv", "tsv") for packed in COMPRESSIONS] + [("parquet", "")]


@pytest.mark.parametrize(("form", "compression"), FORMATS, ids=["".join(pair) for pair in FORMATS])
def test_every_format_and_compression_says_the_same(tmp_path: Path, form: str, compression: str) -> None:
    plot = "Two\nlines\tand a tab"
    nodes = [
        {"id": 'a "quoted" id', "type": "film", "name": "Ünïcödé, a comma", "fields": {"year": 1999, "plot": plot}},
        {"id": "b/1 2", "type": "person", "name": '"Weird Al" Yankovic', "fields": {}},
        {"id": "c", "type": "film", "name": "C", "fields": {"year": 2001}},
    ]  # fmt: skip
    edges = [
        {"source": 'a "quoted" id', "relation": "BY", "target": "b/1 2"},
        {"source": "c", "relation": "BY", "target": "b/1 2"},
    ]
    found = checked(bundles.write(tmp_path / "it", nodes, edges, form=form, compression=compression))
    expected = checked(bundles.write(tmp_path / "plain", nodes, edges))
    assert [(key, node._replace(fields={})) for key, node in found.good_nodes()] == [
        (key, node._replace(fields={})) for key, node in expected.good_nodes()
    ]
    assert found.schema == expected.schema
    assert found.edges.source.tolist() == expected.edges.source.tolist()


def test_the_hash_tells_bundles_apart_and_equal_ones_not(tmp_path: Path) -> None:
    first, same = (checked(bundles.write(tmp_path / name)) for name in ("first", "same"))
    other = checked(bundles.write(tmp_path / "other", edges=bundles.EDGES[:1]))
    assert first.content_hash == same.content_hash != other.content_hash


def test_a_file_that_changes_between_the_passes_is_noticed(tmp_path: Path) -> None:
    found = checked(bundles.write(tmp_path))
    with (tmp_path / "nodes.jsonl").open("ab") as file:
        file.write(b"\n")
    with pytest.raises(BundleError, match="changed while it was being read"):
        list(found.good_nodes())


def test_what_cannot_be_read_as_a_whole_gets_a_sentence(tmp_path: Path) -> None:
    bundles.write(tmp_path, compression=".gz")
    whole = (tmp_path / "nodes.jsonl.gz").read_bytes()
    (tmp_path / "nodes.jsonl.gz").write_bytes(whole[:-12])
    with pytest.raises(BundleError, match=r"nodes\.jsonl\.gz is damaged or not what its name says"):
        checked(tmp_path)
    (tmp_path / "nodes.jsonl.gz").write_bytes(gzip.decompress(whole))
    with pytest.raises(BundleError, match=r"nodes\.jsonl\.gz is damaged or not what its name says"):
        checked(tmp_path)
    (tmp_path / "nodes.jsonl").write_bytes(gzip.decompress(whole))
    with pytest.raises(BundleError, match=r"nodes\.jsonl and nodes\.jsonl\.gz; leave one"):
        checked(tmp_path)
    (tmp_path / "nodes.jsonl").unlink()
    (tmp_path / "nodes.jsonl.gz").unlink()
    with pytest.raises(BundleError, match=r"holds none of nodes\.jsonl, nodes\.csv"):
        checked(tmp_path)


@pytest.mark.data
@pytest.mark.parametrize(("name", "nodes", "edges"), [("prime-ibd", 3_426, 6_376), ("ottqa-small", 28_315, 35_378)])
def test_real_bundles_have_the_counts_that_their_readme_gives(
    shared_data: Path, name: str, nodes: int, edges: int
) -> None:
    log = FaultLog()
    found = check(shared_data / name, log)
    assert (len(found.key_of), len(found.edges) + found.edges.doubles, log.bad_rows) == (nodes, edges, 0)
    manifest = json.loads((shared_data / name / "kb.json").read_text())
    assert {t.name: t.count for t in found.schema.node_types} == {
        n: t["count"] for n, t in manifest["node_types"].items()
    }
    assert {(r.source, r.relation, r.target): r.count for r in found.schema.relation_types} == {
        (r["source"], r["relation"], r["target"]): r["count"] for r in manifest["relation_types"]
    }
