"""The import pages: from files, a folder or bad uploads to a job, with a mapping in between."""

from __future__ import annotations

import json
import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from search.admin.schema_drawing import BOX_HEIGHT, MOST_TYPES, drawing_of
from search.models import Job, Snapshot, Upload
from search.services.jobs.run_here import run_here
from search.services.knowledge.import_snapshot import ImportFailed
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db
FILMS = "id,title,year,director_id\nf1,Birch Street,2011,p1\nf2,Amber Road,1999,p1\n"
PEOPLE = "id,name\np1,Ada Holm\n"
START = "admin:search_import"


@pytest.fixture
def staff(api: Client, settings: Settings, tmp_path: Path) -> Client:
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_HOME.mkdir()
    settings.GRASP_IMPORT_ROOTS = [str(tmp_path / "roots")]
    (tmp_path / "roots" / "cinema").mkdir(parents=True)
    api.force_login(User.objects.create_superuser("admin", password="x"))
    return api


def send(staff: Client, *files: tuple[str, bytes]) -> str:
    """Send files with the form, without script; return the page after it."""
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return staff.post(reverse(START), {"files": sent}, follow=True).content.decode()


def unpacked() -> Upload:
    """Do the job that unpacks, and return its upload; the job may fail."""
    job = Job.objects.get(kind="unpack")
    try:
        run_here(job)
    except Exception:  # noqa: BLE001 - the upload says why
        assert Upload.objects.get().state == "refused"
    return Upload.objects.get()


def page(staff: Client, name: str, upload: Upload) -> str:
    return staff.get(reverse(f"{START}_{name}", args=[upload.pk]), follow=True).content.decode()


def test_files_are_sent_mapped_checked_and_imported(staff: Client) -> None:
    assert "The files are checked and unpacked" in send(
        staff, ("films.csv", FILMS.encode()), ("people.csv", PEOPLE.encode())
    )
    upload = unpacked()
    mapping = page(staff, "step", upload)
    assert "Guessed because" in mapping
    assert 'aria-label="Use of director_id in films.csv"' in mapping
    fields = {
        "name": "cinema",
        "f0-c3-use": "edge",
        "f0-c3-relation": "directed by",
        "f0-type": "film",
        "f1-type": "person",
    }
    check = staff.post(reverse(f"{START}_mapping", args=[upload.pk]), fields, follow=True).content.decode()
    assert "directed by" in check
    assert "All rows were read" in check
    staff.post(reverse(f"{START}_check", args=[upload.pk]), {"name": "cinema", "tolerance": "0"})
    job = Job.objects.get(kind="import")
    assert job.arguments["mapping"]["files"][0]["columns"]["director_id"] == {"use": "edge", "relation": "directed by"}
    assert str(job) == "Import of cinema"
    run_here(job)
    snapshot = Snapshot.objects.get()
    assert (snapshot.knowledge_base.name, snapshot.nodes, snapshot.edges) == ("cinema", 3, 2)


def test_faults_of_a_mapping_stand_at_their_column_and_nothing_is_kept(staff: Client) -> None:
    send(staff, ("films.csv", FILMS.encode()))
    upload = unpacked()
    answer = staff.post(
        reverse(f"{START}_mapping", args=[upload.pk]), {"name": "c", "f0-type": "film", "f0-c0-use": "source"}
    )
    shown = answer.content.decode()
    assert answer.status_code == 400
    assert "is no use of a column of nodes" in shown
    assert "No column has the use &#x27;id&#x27;" in shown
    assert Upload.objects.get().mapping is None


def test_a_folder_of_the_server_is_checked_and_its_bad_rows_are_told_with_file_and_row(
    staff: Client, tmp_path: Path
) -> None:
    folder = bundles.write(tmp_path / "roots" / "films")
    with (folder / "edges.jsonl").open("a") as edges:
        edges.write('{"source": "f1", "relation": "DIRECTED_BY", "target": "nobody"}\n')
    row = len((folder / "edges.jsonl").read_text().splitlines())
    answer = staff.post(reverse(START), {"place": str(folder)}, follow=True).content.decode()
    assert "1 fault" in answer
    upload = Upload.objects.get()
    [bad] = [json.loads(line) for line in staff.get(reverse(f"{START}_faults", args=[upload.pk])).content.splitlines()]
    assert (bad["file"], bad["row"]) == ("edges.jsonl", row)
    staff.post(reverse(f"{START}_check", args=[upload.pk]), {"name": "films", "tolerance": "1", "check_only": "1"})
    job = Job.objects.get(kind="import")
    run_here(job)
    assert Snapshot.objects.count() == 0
    job.refresh_from_db()
    listed = staff.get(reverse("admin:search_job_bad_rows", args=[job.pk])).content
    assert json.loads(listed.splitlines()[0])["row"] == row


def test_equal_faults_are_one_line_of_the_check_and_of_the_log(staff: Client, tmp_path: Path) -> None:
    films = [{"id": f"x{at}", "type": "film", "name": "X", "fields": {"year": "soon"}} for at in range(178)]
    types = {"film": {"fields": {"year": {"type": "number"}}}, "person": {}}
    folder = bundles.write(tmp_path / "roots" / "films", [*bundles.NODES, *films], node_types=types)
    told = "The field &#x27;year&#x27; is declared as number, but &#x27;soon&#x27; is not a number."
    answer = staff.post(reverse(START), {"place": str(folder)}, follow=True).content.decode()
    assert answer.count(told) == 1
    assert '<td>178</td><td data-label="Where">nodes.jsonl:4, nodes.jsonl:5, nodes.jsonl:6 …</td>' in answer
    upload = Upload.objects.get()
    staff.post(reverse(f"{START}_check", args=[upload.pk]), {"name": "films", "tolerance": "200", "check_only": "1"})
    job = Job.objects.get(kind="import")
    run_here(job)
    (line,) = [line.text for line in job.lines.all() if "year" in line.text]
    assert line == (
        "178 rows: nodes.jsonl:4: The field 'year' is declared as number, but 'soon' is not a number. "
        "(also nodes.jsonl:5, nodes.jsonl:6)"
    )
    job.refresh_from_db()
    assert [(one["column"], one["rows"], one["line"]) for one in job.result["fault_groups"]] == [("year", 178, line)]


@pytest.mark.parametrize("place", ["/etc", "cinema", "neo4j://elsewhere:7687/neo4j", "/nowhere\0", "../../etc"])
def test_a_place_that_may_not_be_read_is_refused_by_a_sentence(staff: Client, place: str) -> None:
    answer = staff.post(reverse(START), {"place": place})
    assert answer.status_code in (200, 400)
    assert not Upload.objects.exists()
    text = answer.content.decode()
    assert any(
        word in text for word in ("There is no such folder", "absolute path", "GRASP_IMPORT_NEO4J", "Null characters")
    )


def _zip(entries: dict[str, bytes], link: str = "") -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        if link:
            info = zipfile.ZipInfo(link)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("half.zip", _zip({"a.csv": os.urandom(2000)})[:900], "half.zip"),
        ("films.zip", b"no archive at all", "films.zip"),
        ("bomb.zip", _zip({"a.csv": bytes(30_000_000)}), "200"),
        ("link.zip", _zip({"a.csv": FILMS.encode()}, link="b.csv"), "link"),
        ("up.zip", _zip({"../../a.csv": FILMS.encode()}), ".."),
    ],
)
def test_a_bad_upload_says_what_is_wrong_with_it(staff: Client, name: str, content: bytes, word: str) -> None:
    send(staff, (name, content))
    shown = page(staff, "step", unpacked())
    assert "The upload was refused" in shown
    assert word in Upload.objects.get().reason


def test_a_table_in_latin_1_is_told_with_its_row(staff: Client) -> None:
    send(staff, ("films.csv", "id,name\nf1,Käse\n".encode("latin-1")))
    upload = unpacked()
    check = page(staff, "check", upload)
    assert "UTF-8" in check
    assert "Latin-1" in check


def test_an_upload_that_stopped_half_way_names_what_is_missing(staff: Client) -> None:
    upload = Upload.objects.create(title="")
    upload.files.create(name="films.csv", size=100, offset=40)
    shown = page(staff, "step", upload)
    assert "&#x27;films.csv&#x27; has 40 of 100 bytes." in shown
    assert f'data-upload="{upload.pk}"' in shown
    staff.post(reverse(f"{START}_unpack", args=[upload.pk]))
    assert not Job.objects.exists()


def test_a_failure_that_trying_again_cannot_change_offers_no_resume(staff: Client) -> None:
    send(staff, ("films.csv", b"id,title\nf1,Birch Street\nf1,Amber Road\n"))
    upload = unpacked()
    staff.post(reverse(f"{START}_check", args=[upload.pk]), {"name": "cinema", "tolerance": "1"})
    job = Job.objects.get(kind="import")
    # Such a job does not start any more; one of before may have.
    Job.objects.update(arguments={**job.arguments, "tolerance": 0})
    job.refresh_from_db()
    with pytest.raises(ImportFailed):
        run_here(job)
    address = reverse("admin:search_job_change", args=[job.pk])
    shown = staff.get(address).content.decode()
    assert "Clone" in shown
    assert ">Resume<" not in shown
    Job.objects.filter(pk=job.pk).update(notes={})
    assert ">Resume<" in staff.get(address).content.decode()


def test_only_those_who_may_launch_jobs_import(staff: Client) -> None:
    upload = Upload.objects.create(title="x")
    staff.force_login(User.objects.create_user("reader", password="x", is_staff=True))
    assert staff.get(reverse(START)).status_code == 403
    for name in ("step", "mapping", "check", "faults"):
        assert staff.get(reverse(f"{START}_{name}", args=[upload.pk])).status_code == 403
    for name in ("unpack", "discard"):
        assert staff.post(reverse(f"{START}_{name}", args=[upload.pk])).status_code == 403


def test_the_drawing_shows_the_most_frequent_types_inside_its_frame() -> None:
    types = [{"name": f"type {n}", "count": n} for n in range(MOST_TYPES + 3)]
    relations = [
        {"source": "type 9", "relation": "knows", "target": target, "count": 5} for target in ("type 9", "type 10")
    ]
    drawing = drawing_of({"node_types": types, "relation_types": relations})
    assert drawing.left_out == 3
    assert {box.name for box in drawing.boxes} == {f"type {n}" for n in range(3, MOST_TYPES + 3)}
    assert [arrow.label for arrow in drawing.arrows] == ["knows", "knows"]
    for box in drawing.boxes:
        assert box.left >= 0
        assert box.left + box.width <= drawing.width
        assert 0 <= box.top <= drawing.height - BOX_HEIGHT


def test_one_node_type_is_drawn_without_an_empty_half_of_the_page() -> None:
    films = {"name": "film", "fields": [], "count": 3}
    remade = {"source": "film", "relation": "remade as", "target": "film", "count": 1}
    drawing = drawing_of({"node_types": [films], "relation_types": [remade]})
    # The box is 40 units high; the arrow to itself and its label take 56 above it, and as much stays free below.
    assert drawing.height == 152
    [box], [arrow] = drawing.boxes, drawing.arrows
    assert (box.top, arrow.y) == (56, 26)


def test_two_node_types_are_drawn_beside_each_other() -> None:
    films, people = ({"name": name, "fields": [], "count": count} for name, count in (("film", 3), ("person", 2)))
    directed = {"source": "film", "relation": "directed by", "target": "person", "count": 3}
    drawing = drawing_of({"node_types": [films, people], "relation_types": [directed]})
    # As high as one type alone: what stands above a box is the same.
    assert drawing.height == 152
    assert [(box.x, box.top) for box in drawing.boxes] == [(110, 56), (650, 56)]


def test_the_limit_of_an_upload_is_written_with_its_thousands_apart(staff: Client, settings: Settings) -> None:
    settings.GRASP_UPLOAD_MEGABYTES = 20_000
    assert "up to 20,000 MB in all" in staff.get(reverse(START)).content.decode()
