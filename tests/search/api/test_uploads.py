"""Uploads over HTTP: pieces by tus, what stops half-way, who may, and what comes of it."""

from __future__ import annotations

import base64
import hashlib
import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.test import Client
from django.utils import timezone
from httpx2 import Client as Caller
from pytest_django.fixtures import Settings

from search.domain.run_context import RunContext
from search.ingest.unpack.limits import UnpackRefused
from search.models import ApiToken, Job, KnowledgeBase, Upload, UploadFile
from search.services.access.tokens import make_token
from search.services.imports.import_source import import_source
from search.services.imports.place import SourcePlace
from search.services.knowledge.import_snapshot import ImportFailed
from search.services.uploads.discard_upload import delete_old_uploads
from search.services.uploads.unpack_upload import unpack_upload

pytestmark = pytest.mark.django_db
UPLOADS = "/api/v1/uploads/"
TUS = {"Tus-Resumable": "1.0.0"}
PIECE = "application/offset+octet-stream"
PEOPLE = b"id,name,knows\n1,Ada,2\n2,Bo,\n"


@pytest.fixture
def staff(api: Client, settings: Settings, tmp_path: Path) -> Client:
    settings.GRASP_HOME = tmp_path
    api.force_login(User.objects.create_user("staff", is_staff=True, is_superuser=True))
    return api


def begin(client: Client, title: str = "people") -> str:
    answer = client.post(UPLOADS, {"title": title}, content_type="application/json")
    assert answer.status_code == 201
    assert answer["Location"] == answer.json()["url"]
    return str(answer.json()["url"])


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def add(client: Client, upload: str, name: str, size: int, **metadata: str) -> Any:
    pairs = [f"{key} {encoded(value)}" for key, value in {"filename": name, **metadata}.items()]
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": ",".join(pairs)}
    return client.post(f"{upload}files/", headers=headers)


def send(client: Client, file: str, offset: int, piece: bytes, **headers: str) -> Any:
    return client.patch(file, piece, content_type=PIECE, headers={**TUS, "Upload-Offset": str(offset), **headers})


def offset_of(client: Client, file: str) -> int:
    answer = client.head(file, headers=TUS)
    assert (answer.status_code, answer["Cache-Control"], answer["Tus-Resumable"]) == (200, "no-store", "1.0.0")
    return int(answer["Upload-Offset"])


def upload_of(url: str) -> Upload:
    return Upload.objects.get(pk=url.rstrip("/").rpartition("/")[2])


def sent(client: Client, files: dict[str, bytes]) -> str:
    upload = begin(client)
    for name, content in files.items():
        file = add(client, upload, name, len(content))["Location"]
        assert send(client, file, 0, content).status_code == 204
    return upload


def test_a_file_sent_in_pieces_goes_on_where_it_stopped(staff: Client) -> None:
    upload = begin(staff)
    file = add(staff, upload, "people.csv", len(PEOPLE))["Location"]
    assert send(staff, file, 0, PEOPLE[:10])["Upload-Offset"] == "10"
    # The sender has lost everything: it asks for the file again, and for its offset.
    again = add(staff, upload, "people.csv", len(PEOPLE))
    assert (again["Location"], again["Upload-Offset"]) == (file, "10")
    assert offset_of(staff, file) == 10
    assert staff.get(upload).json()["missing"] == f"'people.csv' has 10 of {len(PEOPLE)} bytes."
    assert staff.post(f"{upload}unpack/").status_code == 400
    assert send(staff, file, 10, PEOPLE[10:]).status_code == 204
    assert upload_of(upload).files.get().path.read_bytes() == PEOPLE
    shown = staff.get(upload).json()
    assert (shown["missing"], shown["files"][0]["offset"], shown["state"]) == ("", len(PEOPLE), "receiving")


def test_a_piece_at_another_offset_or_too_long_changes_nothing(staff: Client) -> None:
    file = add(staff, begin(staff), "people.csv", len(PEOPLE))["Location"]
    send(staff, file, 0, PEOPLE[:10])
    for offset, piece, code in ((0, PEOPLE, 409), (11, b"x", 409), (10, PEOPLE, 409)):
        assert send(staff, file, offset, piece).status_code == code
        assert offset_of(staff, file) == 10
    assert send(staff, file, 10, PEOPLE[10:]).status_code == 204
    assert UploadFile.objects.get().path.read_bytes() == PEOPLE


def test_bytes_that_were_written_but_not_recorded_are_written_again(staff: Client) -> None:
    """As after a process that died between writing a piece and recording it."""
    file = add(staff, begin(staff), "people.csv", len(PEOPLE))["Location"]
    send(staff, file, 0, PEOPLE[:10])
    with UploadFile.objects.get().path.open("ab") as content:
        content.write(b"half a pie")
    assert send(staff, file, 10, PEOPLE[10:]).status_code == 204
    assert UploadFile.objects.get().path.read_bytes() == PEOPLE


def test_a_damaged_piece_is_refused_by_its_checksum(staff: Client) -> None:
    file = add(staff, begin(staff), "people.csv", len(PEOPLE))["Location"]
    right = base64.b64encode(hashlib.sha256(PEOPLE[:10]).digest()).decode()
    answer = send(staff, file, 0, PEOPLE[1:11], **{"Upload-Checksum": f"sha256 {right}"})
    assert (answer.status_code, offset_of(staff, file)) == (460, 0)
    assert send(staff, file, 0, PEOPLE[:10], **{"Upload-Checksum": f"sha256 {right}"}).status_code == 204
    for wrong in ("md5 abcd", "sha256 !!", "sha256"):
        assert send(staff, file, 10, b"x", **{"Upload-Checksum": wrong}).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_two_pieces_at_the_same_time_do_not_mix(staff: Client) -> None:
    file = add(staff, begin(staff), "people.csv", len(PEOPLE))["Location"]
    codes: list[int] = []
    with transaction.atomic():
        UploadFile.objects.select_for_update().get()

        def other() -> None:
            client = Client()
            client.force_login(User.objects.get())
            codes.append(send(client, file, 0, PEOPLE).status_code)
            connections.close_all()

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(20)
    assert codes == [409]
    assert offset_of(staff, file) == 0


def test_the_protocol_is_announced_and_asked_for(staff: Client) -> None:
    upload = begin(staff)
    answer = staff.options(f"{upload}files/")
    assert (answer.status_code, answer["Tus-Version"]) == (204, "1.0.0")
    assert set(answer["Tus-Extension"].split(",")) == {"creation", "termination", "expiration", "checksum"}
    missing = staff.post(f"{upload}files/", headers={"Upload-Length": "1"})
    assert (missing.status_code, missing["Tus-Version"]) == (412, "1.0.0")
    file = add(staff, upload, "people.csv", 3)["Location"]
    wrong = staff.patch(file, b"abc", content_type="text/plain", headers={**TUS, "Upload-Offset": "0"})
    assert wrong.status_code == 415


BAD_NAMES = ["", "a/b.csv", "../a.csv", "/etc/passwd", "a\\b.csv", "a\0.csv", "..", "x" * 201]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_no_files_name_is_refused(name: str, staff: Client) -> None:
    answer = add(staff, begin(staff), name, 10)
    assert answer.status_code == 400
    assert answer.json()["errors"]
    assert UploadFile.objects.count() == 0


def test_lengths_and_metadata_that_cannot_be_are_refused(staff: Client) -> None:
    upload = begin(staff)
    good = f"filename {encoded('a.csv')}"
    for length, metadata in (
        ("-1", good),
        ("ten", good),
        ("", good),
        ("9" * 30, good),
        ("1", "filename !"),
        ("1", "x"),
    ):
        headers = {**TUS, "Upload-Length": length, "Upload-Metadata": metadata}
        assert staff.post(f"{upload}files/", headers=headers).status_code == 400
    assert add(staff, upload, "a.csv", 10, sha256="abc").status_code == 400
    assert add(staff, upload, "a.csv", 10).status_code == 201
    assert add(staff, upload, "a.csv", 11).status_code == 409


def test_what_is_larger_than_allowed_is_refused_before_it_is_sent(staff: Client, settings: Settings) -> None:
    settings.GRASP_UPLOAD_MEGABYTES = 1
    upload = begin(staff)
    assert add(staff, upload, "a.csv", 600_000).status_code == 201
    answer = add(staff, upload, "b.csv", 600_000)
    assert (answer.status_code, "1 MB" in answer.json()["detail"]) == (413, True)
    settings.GRASP_UPLOAD_MEGABYTES = 1 << 30
    answer = add(staff, upload, "b.csv", 1 << 49)
    assert (answer.status_code, "the disk has" in answer.json()["detail"]) == (507, True)
    settings.GRASP_UPLOAD_FILES = 1
    assert add(staff, upload, "b.csv", 1).status_code == 413


def test_uploads_are_for_who_has_the_rights(api: Client, settings: Settings, tmp_path: Path) -> None:
    settings.GRASP_HOME = tmp_path
    owner = User.objects.create_user("staff", is_staff=True, is_superuser=True)
    upload = Upload.objects.create(user=owner)
    file = UploadFile.objects.create(upload=upload, name="a.csv", size=3)
    base = f"{UPLOADS}{upload.pk}/"
    calls = [
        ("get", UPLOADS), ("post", UPLOADS), ("get", base), ("delete", base), ("post", f"{base}files/"),
        ("post", f"{base}unpack/"), ("post", f"{base}preview/"), ("patch", f"{base}files/{file.pk}/"),
        ("head", f"{base}files/{file.pk}/"), ("delete", f"{base}files/{file.pk}/"), ("options", f"{base}files/"),
    ]  # fmt: skip
    for user, status in ((None, 401), (User.objects.create_user("annotator", is_staff=True), 403)):
        if user is not None:
            api.force_login(user)
        for verb, url in calls:
            assert getattr(api, verb)(url, headers=TUS).status_code == status, (verb, url)
    assert Upload.objects.count() == UploadFile.objects.count() == 1


def test_a_browser_needs_its_csrf_token(settings: Settings, tmp_path: Path) -> None:
    settings.GRASP_HOME = tmp_path
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_user("staff", is_staff=True, is_superuser=True))
    assert client.post(UPLOADS, {}, content_type="application/json").status_code == 403


def test_an_upload_is_unpacked_looked_at_and_imported(staff: Client) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data/people.csv", PEOPLE.decode())
        file.writestr("data/picture.png", b"\x89PNG")
    upload = sent(staff, {"people.zip": archive.getvalue()})
    assert staff.post(f"{upload}preview/", {}, content_type="application/json").status_code == 400
    answer = staff.post(f"{upload}unpack/")
    assert answer.status_code == 202
    job = Job.objects.get(pk=answer.json()["job"])
    assert (job.kind, job.state) == ("unpack", "queued")
    assert staff.delete(upload).status_code == 409, "an upload that a job uses is not deleted"
    told: list[tuple[str, int, int | None]] = []
    unpack_upload(upload=upload_of(upload), run=RunContext(progress=lambda *news: told.append(news)))
    size = len(archive.getvalue())
    # The checksum is half of it.
    assert told == [("Unpacking", size // 2, size), ("Unpacking", size, size)]
    shown = staff.get(upload).json()
    assert (shown["state"], shown["report"]["files"], shown["report"]["left_out"]) == ("ready", 1, ["data/picture.png"])
    assert shown["files"][0]["sha256"] == hashlib.sha256(archive.getvalue()).hexdigest()

    seen = staff.post(f"{upload}preview/", {}, content_type="application/json").json()
    assert (seen["kind"], seen["nodes"], seen["complete"], seen["problem"]) == ("tables", 2, True, "")
    [file_] = seen["files"]
    assert (file_["path"], file_["role"], file_["rows"]) == ("people.csv", "nodes", 2)
    assert file_["first_rows"][0] == {"id": "1", "name": "Ada", "knows": "2"}
    mapping = seen["mapping"]
    mapping["files"][0]["columns"]["knows"] = {"use": "edge", "relation": "knows"}
    seen = staff.post(f"{upload}preview/", {"mapping": mapping}, content_type="application/json").json()
    assert seen["schema"]["relation_types"] == [
        {"source": "person", "relation": "knows", "target": "person", "count": 1}
    ]
    assert seen["estimate"]["memory"] > 0
    wrong = mapping | {"files": [{**mapping["files"][0], "role": "nodez"}]}
    answer = staff.post(f"{upload}preview/", {"mapping": wrong}, content_type="application/json")
    assert answer.json()["errors"][0]["pointer"] == "/mapping/files/0/role"
    assert upload_of(upload).mapping == mapping, "the mapping without a fault is the one that is kept"

    place = SourcePlace(upload=str(upload_of(upload).pk))
    report = import_source(place=place, mapping=upload_of(upload).mapping, name="people", index=False)
    assert (report.nodes, report.edges, report.bad_rows) == (2, 1, 0)
    Job.objects.all().delete()
    directory = upload_of(upload).directory
    assert staff.delete(upload).status_code == 204
    assert not directory.exists()


def test_an_upload_that_hits_a_bound_is_refused_with_a_sentence_at_every_door(staff: Client) -> None:
    lists = pa.ListArray.from_arrays(pa.array([0, 200_000_000], pa.int32()), pa.nulls(200_000_000, pa.int64()))
    table = io.BytesIO()
    pq.write_table(pa.table({"id": [1], "x": lists}), table)
    upload = sent(staff, {"things.parquet": table.getvalue()})
    unpack_upload(upload=upload_of(upload))
    answer = staff.post(f"{upload}preview/", {}, content_type="application/json")
    assert answer.status_code == 400
    assert "takes more than 1,024 MB of memory" in answer.json()["errors"][0]["message"]
    job = {"kind": "import", "arguments": {"upload": str(upload_of(upload).pk), "guess": True}}
    answer = staff.post("/api/v1/jobs/", job, content_type="application/json")
    assert answer.status_code == 400
    assert "takes more than 1,024 MB of memory" in answer.json()["errors"][0]["message"]
    for step in ("mapping", "check"):
        page = staff.get(f"/admin/search/knowledgebase/import/{upload_of(upload).pk}/{step}/", follow=True)
        assert "takes more than 1,024 MB of memory" in page.content.decode()


def test_a_refused_upload_says_why_and_leaves_nothing(staff: Client) -> None:
    upload = sent(staff, {"people.zip": b"this is no zip archive"})
    with pytest.raises(UnpackRefused):
        unpack_upload(upload=upload_of(upload))
    shown = staff.get(upload).json()
    assert (shown["state"], "no zip archive" in shown["reason"]) == ("refused", True)
    assert [path.name for path in upload_of(upload).directory.iterdir()] == ["incoming"]
    file = shown["files"][0]["url"]
    assert send(staff, file, 22, b"more").status_code == 409
    assert add(staff, upload, "b.csv", 3).status_code == 409
    assert staff.post(f"{upload}unpack/").status_code == 400
    with pytest.raises(ImportFailed, match="refused"):
        import_source(place=SourcePlace(upload=str(upload_of(upload).pk)), index=False)


def test_a_file_can_be_taken_out_again(staff: Client) -> None:
    upload = sent(staff, {"a.csv": PEOPLE, "b.csv": PEOPLE})
    file = upload_of(upload).files.get(name="a.csv")
    assert staff.delete(f"{upload}files/{file.pk}/", headers=TUS).status_code == 204
    assert [f["name"] for f in staff.get(upload).json()["files"]] == ["b.csv"]
    assert not file.path.exists()


def test_old_uploads_are_deleted_unless_a_job_uses_them(staff: Client) -> None:
    old, used, new = (upload_of(sent(staff, {"a.csv": PEOPLE})) for _ in range(3))
    Upload.objects.filter(pk__in=[old.pk, used.pk]).update(changed=timezone.now() - timedelta(days=8))
    Job.objects.create(kind="unpack", arguments={"upload": str(used.pk)}, specification_hash="x")
    assert delete_old_uploads() == 1
    assert set(Upload.objects.all()) == {used, new}
    assert [path.directory.exists() for path in (old, used, new)] == [False, True, True]


@pytest.mark.django_db(transaction=True)
def test_a_body_that_no_door_takes_is_refused_before_it_is_stored(server: str, committed_films: KnowledgeBase) -> None:
    """Whoever the caller is: otherwise anybody could fill the disk."""

    def endless() -> Iterator[bytes]:
        for _ in range(1_000):
            yield bytes(1 << 20)

    host, port = server.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as raw:
        raw.sendall(f"POST /api/v1/searches/ HTTP/1.1\r\nHost: {host}\r\nContent-Length: {1 << 40}\r\n\r\n".encode())
        assert raw.recv(12) == b"HTTP/1.1 413"
    with Caller(timeout=30) as caller:
        counted = caller.post(f"{server}/api/v1/searches/", content=endless())
        assert (counted.status_code, "several pieces" in counted.json()["detail"]) == (413, True)
        assert caller.get(f"{server}/api/v1/healthz/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_pieces_arrive_through_a_real_server(
    server: str, committed_films: KnowledgeBase, settings: Settings, tmp_path: Path
) -> None:
    settings.GRASP_HOME = tmp_path
    user = User.objects.create_user("program", is_staff=True, is_superuser=True)
    headers = {"Authorization": f"Token {make_token(user)[1]}", **TUS}
    assert ApiToken.objects.count() == 1
    content = PEOPLE * 400_000
    with Caller(timeout=60, headers=headers, base_url=server) as caller:
        upload = caller.post(UPLOADS, json={}).json()["url"]
        made = caller.post(
            f"{upload}files/",
            headers={"Upload-Length": str(len(content)), "Upload-Metadata": f"filename {encoded('people.csv')}"},
        )
        file, offset, piece = made.headers["Location"], 0, 4 << 20
        while offset < len(content):
            answer = caller.patch(
                file,
                content=content[offset : offset + piece],
                headers={"Upload-Offset": str(offset), "Content-Type": PIECE},
            )
            assert answer.status_code == 204
            offset = int(answer.headers["Upload-Offset"])
    received = UploadFile.objects.get().path.read_bytes()
    assert hashlib.sha256(received).digest() == hashlib.sha256(content).digest()
