"""One small knowledge base, written by hand in every format that can be imported: all give the same nodes and edges."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from search.domain.graph import Schema
from search.ingest.detect import detect
from search.ingest.faults import FaultLog
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.source import Source, bundle_source
from search.ingest.validate import CheckedBundle, check
from tests.search.ingest import bundles

NODES = [
    {"id": "f1", "type": "film", "name": "Birch Street", "fields": {"year": 2011, "tags": ["quiet", "long"]}},
    {"id": "f2", "type": "film", "name": "Café Zürich", "fields": {"year": 1999, "plot": 'He said "no", and\nleft.'}},
    {"id": "p1", "type": "person", "name": "Ada Holm", "fields": {"born": "1970-02-01"}},
    {"id": "p2", "type": "person", "name": "Bo Lind", "fields": {}},
]
EDGES = [
    {"source": "f1", "relation": "directed_by", "target": "p1"},
    {"source": "f2", "relation": "directed_by", "target": "p1"},
    {"source": "p1", "relation": "knows", "target": "p2", "properties": {"since": 1990}},
]
FILMS = 'id,title,year,tags,plot,director\nf1,Birch Street,2011,quiet|long,,p1\n' \
    'f2,Café Zürich,1999,,"He said ""no"", and\nleft.",p1\n'  # fmt: skip
PEOPLE = "id\tname\tborn\np1\tAda Holm\t1970-02-01\np2\tBo Lind\t\n"
KNOWS = "from;to;since\np1;p2;1990\n"


def column(use: str, **more: Any) -> dict[str, Any]:
    return {"use": use, **more}


FILM_COLUMNS = {
    "id": column("id"), "title": column("name"), "year": column("number"), "tags": column("keyword", separator="|"),
    "plot": column("text"), "director": column("edge", relation="directed_by"),
}  # fmt: skip
PERSON_COLUMNS = {"id": column("id"), "name": column("name"), "born": column("date")}
KNOWS_COLUMNS = {"from": column("source"), "to": column("target"), "since": column("number")}


def mapping_of(suffix: str = "") -> dict[str, Any]:
    films = {"path": f"films.csv{suffix}", "role": "nodes", "type": "film", "columns": FILM_COLUMNS}
    people = {"path": f"people.tsv{suffix}", "role": "nodes", "type": "person", "columns": PERSON_COLUMNS}
    knows = {"path": f"knows.csv{suffix}", "role": "edges", "relation": "knows", "columns": KNOWS_COLUMNS}
    files = [films, people | {"format": "tsv"}, knows | {"delimiter": ";"}]
    return {"name": "films", "files": [file | {"compression": suffix} for file in files]}


def tables(folder: Path, suffix: str, pack: Callable[[bytes], bytes]) -> Source:
    for name, text in (("films.csv", FILMS), ("people.tsv", PEOPLE), ("knows.csv", KNOWS)):
        (folder / f"{name}{suffix}").write_bytes(pack(text.encode()))
    return mapped_source(folder, SourceMapping.from_json(mapping_of(suffix)))


def plain_tables(folder: Path) -> Source:
    return tables(folder, "", bytes)


def gzipped_tables(folder: Path) -> Source:
    return tables(folder, ".gz", gzip.compress)


def zstd_tables(folder: Path) -> Source:
    return tables(folder, ".zst", zstandard.ZstdCompressor().compress)


def json_lines(folder: Path) -> Source:
    rows = [{"key": n["id"], "kind": n["type"], "called": n["name"], **n["fields"]} for n in NODES]
    (folder / "things.jsonl").write_bytes(bundles.lines(rows))
    (folder / "links.ndjson").write_bytes(bundles.lines([{**e, **e.pop("properties", {})} for e in map(dict, EDGES)]))
    columns = {
        "key": column("id"), "kind": column("type"), "called": column("name"), "year": column("number"),
        "tags": column("keyword"), "plot": column("text"), "born": column("date"),
    }  # fmt: skip
    ends = {name: column(name) for name in ("source", "relation", "target")} | {"since": column("field")}
    files = [
        {"path": "things.jsonl", "role": "nodes", "format": "jsonl", "columns": columns},
        {"path": "links.ndjson", "role": "edges", "format": "jsonl", "columns": ends},
    ]
    return mapped_source(folder, SourceMapping.from_json({"name": "films", "files": files}))


def parquet(folder: Path) -> Source:
    rows = [{"key": n["id"], "kind": n["type"], "called": n["name"], **n["fields"]} for n in NODES]
    edges = [{"a": e["source"], "b": e["target"], "r": e["relation"], "since": e.get("properties", {}).get("since")}
             for e in EDGES]  # fmt: skip
    keys = ("key", "kind", "called", "year", "tags", "plot", "born")
    table = pyarrow.Table.from_pylist([{key: row.get(key) for key in keys} for row in rows])
    pyarrow.parquet.write_table(table, folder / "things.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(edges), folder / "links.parquet")
    columns = {
        "key": column("id"), "kind": column("type"), "called": column("name"), "year": column("number"),
        "tags": column("keyword"), "plot": column("text"), "born": column("date"),
    }  # fmt: skip
    files = [
        {"path": "things.parquet", "role": "nodes", "format": "parquet", "columns": columns},
        {"path": "links.parquet", "role": "edges", "format": "parquet", "columns": {
            "a": column("source"), "r": column("relation"), "b": column("target"), "since": column("number"),
        }},
    ]  # fmt: skip
    return mapped_source(folder, SourceMapping.from_json({"name": "films", "files": files}))


def neo4j_admin(folder: Path) -> Source:
    """Headers in files of their own and in the data, as in Neo4j's operations manual."""
    (folder / "films-header.csv").write_text("id:ID,title,year:int,tags:string[],plot:string,:LABEL\n")
    (folder / "films-1.csv").write_text("f1,Birch Street,2011,quiet;long,,film\n")
    (folder / "films-2.csv").write_text('f2,Café Zürich,1999,,"He said ""no"", and\nleft.",film\n')
    (folder / "people.csv").write_text(":ID,name,born:date,:LABEL\np1,Ada Holm,1970-02-01,person\np2,Bo Lind,,person\n")
    (folder / "roles.csv").write_text(
        ":START_ID,:END_ID,:TYPE,since:int\nf1,p1,directed_by,\nf2,p1,directed_by,\np1,p2,knows,1990\n"
    )
    detected = detect(folder)
    assert (detected.kind, detected.faults) == ("neo4j_csv", ())
    assert detected.mapping is not None
    return mapped_source(folder, detected.mapping)


FORMATS = [plain_tables, gzipped_tables, zstd_tables, json_lines, parquet, neo4j_admin]


def content(checked: CheckedBundle) -> tuple[Any, ...]:
    """Return nodes and edges by names, independently of the order of types and relations."""
    types = [node_type.name for node_type in checked.schema.node_types]
    relations = [relation.name for relation in checked.schema.relations]
    nodes = [(key, n.id, types[n.type], n.name, n.aliases, n.url, n.fields) for key, n in checked.good_nodes()]
    edges = checked.edges
    found = [
        (int(s), relations[r], int(t), json.loads(edges.property_of(i) or b"{}"))
        for i, (s, r, t) in enumerate(zip(edges.source, edges.relation, edges.target, strict=True))
    ]
    return sorted(nodes, key=lambda node: node[0]), sorted(found, key=str)


def kinds(schema: Schema) -> dict[tuple[str, str], tuple[str, bool, int]]:
    return {(t.name, f.name): (f.kind, f.many, f.coverage) for t in schema.node_types for f in t.fields}


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_gives_what_the_bundle_gives(write: Callable[[Path], Source], tmp_path: Path) -> None:
    expected = check(bundle_source(bundles.write(tmp_path / "bundle", NODES, EDGES)), FaultLog())
    log = FaultLog()
    (tmp_path / "files").mkdir()
    found = check(write(tmp_path / "files"), log)
    assert (log.faults, log.remarks) == ([], [])
    assert content(found) == content(expected)
    assert kinds(found.schema) == kinds(expected.schema)
    assert set(found.schema.relation_types) == set(expected.schema.relation_types)


def test_the_hand_written_base_has_these_nodes(tmp_path: Path) -> None:
    nodes, edges = content(check(plain_tables(tmp_path), FaultLog()))
    assert nodes == [
        (0, "f1", "film", "Birch Street", [], "", {"year": 2011, "tags": ["quiet", "long"]}),
        (1, "f2", "film", "Café Zürich", [], "", {"year": 1999, "plot": 'He said "no", and\nleft.'}),
        (2, "p1", "person", "Ada Holm", [], "", {"born": "1970-02-01"}),
        (3, "p2", "person", "Bo Lind", [], "", {}),
    ]
    assert edges == [(0, "directed_by", 2, {}), (1, "directed_by", 2, {}), (2, "knows", 3, {"since": 1990})]


def test_a_second_id_space_gets_prefixes(tmp_path: Path) -> None:
    (tmp_path / "films.csv").write_text(":ID(Film),title,:LABEL\n1,Birch Street,film\n")
    (tmp_path / "people.csv").write_text(":ID(Person),name,:LABEL\n1,Ada Holm,Director;person\n")
    (tmp_path / "roles.csv").write_text(":START_ID(Film),:END_ID(Person),:TYPE\n1,1,by\n")
    mapping = detect(tmp_path).mapping
    assert mapping is not None
    labelled = SourceMapping.from_json(
        mapping.to_json() | {"types": {"person": "human"}, "relations": {"by": "made by"}}
    )
    nodes, edges = content(check(mapped_source(tmp_path, labelled), FaultLog()))
    assert [(n[1], n[2], n[3]) for n in nodes] == [
        ("Film:1", "film", "Birch Street"),
        ("Person:1", "human", "Ada Holm"),
    ]
    assert edges == [(0, "made by", 1, {})]


def test_the_guess_of_plain_files_is_right_for_usual_names(tmp_path: Path) -> None:
    for name, text in (("films.csv", FILMS), ("people.tsv", PEOPLE), ("knows.csv", KNOWS)):
        (tmp_path / name).write_text(text)
    detected = detect(tmp_path, "films")
    assert detected.kind == "tables"
    assert detected.mapping is not None
    uses = {
        f.path: (f.role, f.type or f.relation, {n: c.use for n, c in f.columns.items()}) for f in detected.mapping.files
    }
    assert uses == {
        "films.csv": (
            "nodes", "film",
            {"id": "id", "title": "name", "year": "number", "tags": "keyword", "plot": "text", "director": "edge"},
        ),
        "people.tsv": ("nodes", "person", {"id": "id", "name": "name", "born": "date"}),
        "knows.csv": ("edges", "knows", {"from": "source", "to": "target", "since": "number"}),
    }  # fmt: skip
    assert {reason.file for reason in detected.reasons} == set(uses)
    assert all(reason.because for reason in detected.reasons)
