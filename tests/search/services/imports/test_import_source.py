"""From every kind of source to a snapshot, and what may not be a source."""

from __future__ import annotations

import json
import shutil
import tarfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from search.adapters.graph_neo4j.connection import connect
from search.domain.errors import InvalidRequest
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.ingest.export import export_bundle
from search.ingest.faults import FaultLog
from search.ingest.validate import check
from search.models import Snapshot
from search.services.imports.import_source import import_source
from search.services.imports.open_source import opened_source
from search.services.imports.place import SourcePlace, check_place, database
from search.services.imports.preview import preview
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.knowledge.import_snapshot import ImportFailed
from tests.neo4j_server import Neo4jServer
from tests.search.ingest import bundles

FILMS = "id,title,year,director\nf1,Birch Street,2011,p1\nf2,Amber Road,1999,p1\n"
PEOPLE = "id,name\np1,Ada Holm\n"


def tables(folder: Path) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "films.csv").write_text(FILMS)
    (folder / "people.csv").write_text(PEOPLE)
    return folder


def command(*arguments: object, **options: Any) -> str:
    out = StringIO()
    call_command("import_kb", *map(str, arguments), stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


@pytest.mark.django_db
def test_plain_files_are_imported_with_the_mapping_that_somebody_confirmed(tmp_path: Path) -> None:
    folder, mapping = tables(tmp_path / "cinema"), tmp_path / "mapping.json"
    with pytest.raises(CommandError, match="a mapping has to say what their columns mean"):
        command(folder, "--no-index")
    assert "correct it" in command(folder, "--write-mapping", mapping)
    written = json.loads(mapping.read_text())
    assert written["name"] == "cinema"
    written["files"][0]["columns"]["director"]["relation"] = "directed by"
    mapping.write_text(json.dumps(written))
    report = json.loads(command(folder, "--mapping", mapping, "--no-index", "--json"))
    assert (report["knowledge_base"], report["nodes"], report["edges"], report["bad_rows"]) == ("cinema", 3, 2, 0)
    assert bundles.nodes_of(report["snapshot"]) == [
        (0, "f1", 0, "Birch Street", [], "", {"year": 2011}),
        (1, "f2", 0, "Amber Road", [], "", {"year": 1999}),
        (2, "p1", 1, "Ada Holm", [], "", {}),
    ]
    schema = Snapshot.objects.get(pk=report["snapshot"]).schema
    assert [(r.source, r.relation, r.target, r.count) for r in schema.relation_types] == [
        ("film", "directed by", "person", 2)
    ]


@pytest.mark.django_db
def test_the_guess_can_be_taken_and_a_dry_run_loads_nothing(tmp_path: Path) -> None:
    folder = tables(tmp_path / "cinema")
    assert "checked in" in command(folder, "--guess", "--dry-run")
    assert Snapshot.objects.count() == 0


@pytest.mark.django_db
def test_an_archive_is_a_source(tmp_path: Path) -> None:
    bundles.write(tmp_path / "films")
    with tarfile.open(tmp_path / "films.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "films", "films")
    report = json.loads(command(tmp_path / "films.tar.gz", "--no-index", "--json"))
    assert (report["knowledge_base"], report["nodes"], report["edges"]) == ("films", 3, 2)
    assert list((Path(django_settings.GRASP_HOME) / "imports").iterdir()) == []


@pytest.mark.django_db
def test_a_faulty_mapping_and_bad_rows_are_told_and_nothing_is_loaded(tmp_path: Path) -> None:
    folder, mapping, report = tables(tmp_path / "cinema"), tmp_path / "mapping.json", tmp_path / "report.jsonl"
    mapping.write_text(json.dumps({"name": "x", "files": [{"path": "films.csv", "role": "nodes"}]}))
    with pytest.raises(CommandError, match="/files/0/numbered: No column has the use 'id'"):
        command(folder, "--mapping", mapping)
    for text in ("{", ""):
        mapping.write_text(text)
        with pytest.raises(CommandError, match="not valid JSON"):
            command(folder, "--mapping", mapping)
    mapping.unlink()
    command(folder, "--write-mapping", mapping)
    (folder / "films.csv").write_text(FILMS + "f3,Third,soon,p1\nf4,Fourth,2000,p9\n")
    with pytest.raises(CommandError, match="2 bad rows, 0 tolerated"):
        command(folder, "--mapping", mapping, "--report", report, "--no-index")
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(line["file"], line["row"], line["kind"]) for line in lines[:2]] == [
        ("films.csv", 4, "bad_value"), ("films.csv", 5, "no_such_node"),
    ]  # fmt: skip
    assert Snapshot.objects.count() == 0


@pytest.mark.django_db
def test_a_folder_outside_the_roots_is_no_source_for_a_page(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "roots").mkdir()
    inside, outside = tables(tmp_path / "roots" / "cinema"), tmp_path
    settings.GRASP_IMPORT_ROOTS = []
    with pytest.raises(InvalidRequest, match="is off"):
        check_place(SourcePlace(folder=str(inside)))
    settings.GRASP_IMPORT_ROOTS = [str(tmp_path / "roots")]
    assert check_place(SourcePlace(folder=str(inside))) == inside
    (tmp_path / "roots" / "link").symlink_to(outside)
    for wrong in (
        outside,
        inside / ".." / "..",
        tmp_path / "roots" / "link",
        "/etc",
        "relative",
        inside / "none",
        "/a\0b",
    ):
        with pytest.raises(InvalidRequest, match="There is no such folder below"):
            check_place(SourcePlace(folder=str(wrong)))


@pytest.mark.django_db
def test_a_folder_with_a_link_that_leads_out_of_the_roots_is_no_source(settings: Settings, tmp_path: Path) -> None:
    inside, outside = tables(tmp_path / "roots" / "cinema"), tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "secret.csv").write_text("id,name\n1,Secret\n")
    settings.GRASP_IMPORT_ROOTS = [str(tmp_path / "roots")]
    (inside / "near.csv").symlink_to(inside / "films.csv")
    assert check_place(SourcePlace(folder=str(inside))) == inside
    for name, target in (("file.csv", outside / "secret.csv"), ("folder", outside), ("gone", tmp_path / "nothing")):
        (inside / name).symlink_to(target)
        with pytest.raises(InvalidRequest, match=f"{name} is a link that leads out of"):
            check_place(SourcePlace(folder=str(inside)))
        (inside / name).unlink()


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["roots", "link", "folder"])
def test_a_folder_is_checked_again_when_its_job_runs(
    settings: Settings, tmp_path: Path, services: object, change: str
) -> None:
    inside, outside = tables(tmp_path / "roots" / "cinema"), tables(tmp_path / "elsewhere")
    settings.GRASP_IMPORT_ROOTS = [str(tmp_path / "roots")]
    job, _ = launch_job(kind="import", arguments={"source": str(inside), "guess": True, "name": "cinema"}, here=True)
    if change == "roots":
        settings.GRASP_IMPORT_ROOTS = [str(tmp_path / "others")]
    elif change == "link":
        (inside / "more.csv").symlink_to(outside / "films.csv")
    else:
        shutil.rmtree(inside)
        inside.symlink_to(outside)
    with pytest.raises(InvalidRequest, match=r"There is no such folder below|leads out of"):
        run_here(job)
    job.refresh_from_db()
    assert job.state == "failed"
    assert not Snapshot.objects.exists()


def test_a_place_is_one_thing(db: None) -> None:
    for place in (SourcePlace(), SourcePlace(upload="x", folder="/y")):
        with pytest.raises(InvalidRequest, match="Name one source"):
            check_place(place)
    with pytest.raises(InvalidRequest, match="There is no upload"):
        check_place(SourcePlace(upload="x"))


def test_a_password_in_an_address_is_refused_and_repeated_nowhere(settings: Settings) -> None:
    settings.GRASP_IMPORT_NEO4J_USER, settings.GRASP_IMPORT_NEO4J_PASSWORD = "reader", "s3cret"
    for url in ("neo4j://me:hidden@host/db", "neo4j://me:hidden@host:99999", "bolt://hidden@host"):
        with pytest.raises(CommandError) as error:
            command(url)
        assert "hidden" not in str(error.value)
    with pytest.raises(InvalidRequest) as wrong:
        database("neo4j://host:1/a/b")
    assert "s3cret" not in str(wrong.value)
    assert "s3cret" not in repr(database("neo4j://host:1/db"))
    with pytest.raises(InvalidRequest, match="not among the servers"):
        check_place(SourcePlace(neo4j="neo4j://host:1/db"))
    settings.GRASP_IMPORT_NEO4J_HOSTS = ["host:1"]
    assert check_place(SourcePlace(neo4j="neo4j://host:1/db")) == database("neo4j://host:1/db")
    settings.GRASP_IMPORT_NEO4J_USER = ""
    with pytest.raises(InvalidRequest, match="GRASP_IMPORT_NEO4J_USER"):
        database("neo4j://host:1/db")


LOAD = """
CREATE (a:Person:Director {name: 'Ada Holm', born: date('1970-02-01'), key: 'p1', at: point({x: 1, y: 2})}),
       (f:Film {title: 'Birch Street', year: 2011, tags: ['a', 'b'], key: 'f1', score: 1.5}),
       (n:Film {key: 'f2'}), (:GraspProjection {snapshot: 99}), (:S99:T0 {key: 0, id: 'x'}), (:Secret {name: 'No'}),
       (f)-[:DIRECTED_BY {since: 1999, note: 'x'}]->(a), (n)-[:DIRECTED_BY]->(a)
"""


@pytest.fixture
def cinema(neo4j_server: Neo4jServer, settings: Settings) -> str:
    """The address of a real database without credentials, which the settings have."""
    address = neo4j_server.address
    connection = connect(address)
    connection.write("MATCH (n) DETACH DELETE n", {}, Limit.seconds(30))
    connection.write(LOAD, {}, Limit.seconds(30))
    settings.GRASP_IMPORT_NEO4J_USER, settings.GRASP_IMPORT_NEO4J_PASSWORD = address.user, address.password
    yield f"{address.uri}/{address.database}"
    connection.write("MATCH (n) DETACH DELETE n", {}, Limit.seconds(30))


LABELS = {
    "id_property": "key",
    "ignored": ["Secret"],
    "types": {"Director": "person"},
    "relations": {"DIRECTED_BY": "by"},
}


@pytest.mark.django_db
def test_a_live_database_is_imported_with_its_labels_mapped_and_stays_as_it_is(cinema: str, tmp_path: Path) -> None:
    before = connect(database(cinema)).read("test", "MATCH (n) RETURN count(n)", {}, Limit.seconds(30))
    (tmp_path / "labels.json").write_text(json.dumps(LABELS))
    written = command(cinema, "--name", "cinema", "--mapping", tmp_path / "labels.json", "--no-index", "--json")
    report = json.loads(written)
    snapshot = Snapshot.objects.get(pk=report["snapshot"])
    types = [node_type.name for node_type in snapshot.schema.node_types]
    assert [(n[1], types[n[2]], n[3], n[6]) for n in bundles.nodes_of(snapshot)] == [
        ("f1", "Film", "Birch Street", {"year": 2011, "tags": ["a", "b"], "key": "f1", "score": 1.5}),
        ("f2", "Film", "f2", {"key": "f2"}),
        ("p1", "person", "Ada Holm", {"born": "1970-02-01", "key": "p1", "at": "POINT(1.0 2.0)"}),
    ]
    assert [(e[0], e[2], e[5]) for e in bundles.edges_of(snapshot)] == [
        (0, 2, {"since": 1999, "note": "x"}), (1, 2, None),
    ]  # fmt: skip
    assert [r.name for r in snapshot.schema.relations] == ["by"]
    assert snapshot.source == cinema
    assert django_settings.GRASP_IMPORT_NEO4J_PASSWORD not in written
    assert before == connect(database(cinema)).read("test", "MATCH (n) RETURN count(n)", {}, Limit.seconds(30))
    assert list((Path(django_settings.GRASP_HOME) / "imports").iterdir()) == []


@pytest.mark.django_db
def test_what_is_wrong_with_a_database_is_a_sentence_without_the_password(cinema: str, settings: Settings) -> None:
    settings.GRASP_IMPORT_NEO4J_PASSWORD = "s3cret-and-wrong"
    with pytest.raises(ImportFailed, match="refuses the user or the password") as error:
        import_source(place=database(cinema), index=False)
    assert "s3cret" not in str(error.value)
    with pytest.raises(ImportFailed, match="cannot be read"):
        import_source(place=database("bolt://127.0.0.1:1/neo4j"), index=False)
    with pytest.raises(ImportFailed, match="Known keys are"):
        import_source(place=database(cinema), mapping={"lables": {}}, index=False)


def test_reading_a_database_can_be_cancelled(cinema: str, db: None) -> None:
    run = RunContext(limit=Limit(cancelled=lambda: True))
    with pytest.raises(RunCancelled), opened_source(database(cinema), None, run):
        pytest.fail("it was read to its end")
    assert list((Path(django_settings.GRASP_HOME) / "imports").iterdir()) == []


def test_the_preview_of_a_large_folder_estimates_from_its_first_rows(tmp_path: Path) -> None:
    nodes = [
        {"id": f"n{i}", "type": "film", "name": f"Film number {i}", "fields": {"year": i % 90}} for i in range(60_000)
    ]
    edges = [{"source": f"n{i}", "relation": "NEXT", "target": f"n{i + 1}"} for i in range(59_000)]
    bundles.write(tmp_path, nodes, edges, compression=".gz")
    seen = preview(tmp_path)
    assert (seen["complete"], seen["problem"], seen["bad_rows"], seen["faults"]) == (False, "", 0, [])
    assert seen["nodes"] == pytest.approx(60_000, rel=0.15)
    assert seen["edges"] == pytest.approx(59_000, rel=0.15)
    [relation] = seen["schema"]["relation_types"]
    assert (relation["source"], relation["target"]) == ("film", "film")
    assert relation["count"] == pytest.approx(59_000, rel=0.15)


def test_the_preview_of_a_small_folder_is_exact_and_tells_faults(tmp_path: Path) -> None:
    folder = tables(tmp_path / "cinema")
    (folder / "films.csv").write_text(FILMS + "f2,Again,2000,p1\n")
    (folder / "broken.parquet").write_bytes(b"no")
    seen = preview(folder)
    assert (seen["complete"], seen["nodes"], seen["edges"], seen["bad_rows"]) == (True, 3, 2, 1)
    assert {(fault["file"], fault["row"]) for fault in seen["faults"]} == {("films.csv", 4), ("broken.parquet", 0)}


def test_the_preview_of_files_without_rows_says_so_before_an_import_fails(tmp_path: Path) -> None:
    (tmp_path / "films.csv").write_text("id,title,title\n")
    seen = preview(tmp_path)
    assert "nothing to import" in seen["problem"]
    assert [(one["file"], one["kind"]) for one in seen["faults"]] == [("films.csv", "no_rows")]
    (tmp_path / "films.csv").write_text("id,title,title\nf1,Birch Street,Gata\n")
    (tmp_path / "people.csv").write_text("")
    seen = preview(tmp_path)
    assert seen["problem"] == ""
    assert ("films.csv", "The heading 'title' stands more than once; this column is called 'title 2' here.") in [
        (one["file"], one["message"]) for one in seen["remarks"]
    ]
    assert [(one["file"], one["message"]) for one in seen["faults"]] == [("people.csv", "people.csv is empty.")]


def test_the_preview_of_what_cannot_be_imported_says_why(tmp_path: Path) -> None:
    assert "no CSV, TSV, JSON lines or Parquet" in preview(tmp_path)["problem"]
    (tmp_path / "nodes.json").write_text('[{"id": 1}]')
    assert "one JSON array" in preview(tmp_path)["faults"][0]["message"]


WRITTEN = (
    "id;name;price;made;number;state\nk1;Lamp;1,51;May 31, 2024;9007199254740993;NULL\n"
    "k2;Rope;1.234,5;June 1, 2023;9007199254740992;good\n"
)


@pytest.mark.django_db
def test_what_people_write_is_stored_exported_and_read_again_as_it_was_meant(tmp_path: Path) -> None:
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "things.csv").write_text(WRITTEN)
    report = json.loads(command(tmp_path / "things", "--guess", "--no-index", "--json"))
    assert [remark["message"].partition(":")[0] for remark in report["remarks"]] == [
        "Column 'price'", "Column 'made'", "Column 'state'",
    ]  # fmt: skip
    stored = [
        (0, "k1", 0, "Lamp", [], "", {"price": 1.51, "made": "2024-05-31", "number": 9007199254740993}),
        (1, "k2", 0, "Rope", [], "", {"price": 1234.5, "made": "2023-06-01", "number": 9007199254740992,
                                      "state": "good"}),
    ]  # fmt: skip
    assert bundles.nodes_of(report["snapshot"]) == stored
    snapshot = Snapshot.objects.get(pk=report["snapshot"])
    (tmp_path / "out").mkdir()
    export_bundle(tmp_path / "out", snapshot, "things", snapshot.about)
    again = json.loads(command(tmp_path / "out", "--no-index", "--json"))
    assert bundles.nodes_of(again["snapshot"]) == stored
    assert {field.name: field.kind for field in snapshot.schema.node_types[0].fields} == {
        "price": "number", "made": "date", "number": "number", "state": "keyword",
    }  # fmt: skip


def test_the_preview_says_what_was_decided_and_shows_cells_in_the_encoding_of_the_mapping(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,name\n1,北京\n2,上海\n".encode("gb18030"))
    first = preview(tmp_path)
    assert [fault["kind"] for fault in first["faults"]] == ["unsure"]
    mapping = first["mapping"]
    mapping["files"][0]["encoding"] = "euc_jp"
    second = preview(tmp_path, mapping)
    assert (second["faults"], second["files"][0]["first_rows"][0]["name"]) == ([], "臼奨")
    (tmp_path / "a.csv").write_text(WRITTEN)
    assert "such as '1,51', which is 1.51" in preview(tmp_path)["remarks"][0]["message"]


def test_a_bundle_says_which_words_and_days_made_texts_of_a_field(tmp_path: Path) -> None:
    nodes = [
        {"id": f"p{at}", "type": "film", "name": "A", "fields": {"cost": cost, "made": made}}
        for at, (cost, made) in enumerate((("12", "2024-01-31"), ("NULL", "2024-02-31"), ("7", "2024-03-01")))
    ]
    log = FaultLog()
    check(bundles.write(tmp_path / "films", nodes, []), log)
    assert [remark.message for remark in log.remarks if remark.kind == "kind"] == [
        "The field 'cost' of 'film' holds texts: 1 of its 3 values are words for no value, the others numbers.",
        "The field 'made' of 'film' holds texts: '2024-02-31' is no day or time that exists, and all its values look "
        "like dates.",
    ]
