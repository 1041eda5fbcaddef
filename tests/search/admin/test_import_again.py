"""What the import pages remember and ask: the mapping of the last import, and who may search the knowledge base."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from search import wiring
from search.models import AuditEntry, Job, KnowledgeBase, Snapshot, Upload
from search.services.jobs.run_here import run_here

pytestmark = pytest.mark.django_db
FILMS = b"no,title,by\n1,Birch Street,p1\n2,Amber Road,p1\n"
PEOPLE = b"no,name\np1,Ada Holm\n"
REVIEWS = b"text,stars\nThe grinder broke after two weeks and nobody answered my letters at all.,1\n"
START = "admin:search_import"


@pytest.fixture
def staff(api: Client, settings: Settings, tmp_path: Path) -> Client:
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_HOME.mkdir()
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    api.force_login(User.objects.create_superuser("admin", password="x"))
    return api


def sent(staff: Client, *files: tuple[str, bytes]) -> Upload:
    staff.post(reverse(START), {"files": [SimpleUploadedFile(name, content) for name, content in files]})
    run_here(Job.objects.filter(kind="unpack").latest("created"))
    return Upload.objects.latest("created")


def mapping_page(staff: Client, upload: Upload, like: str = "") -> str:
    return staff.get(reverse(f"{START}_mapping", args=[upload.pk]), {"like": like} if like else {}).content.decode()


def imported(staff: Client, upload: Upload, **given: str) -> Job:
    check = reverse(f"{START}_check", args=[upload.pk])
    staff.post(check, {"name": "cinema", "tolerance": "0", "index": "on", "activate": "on", **given})
    job = Job.objects.filter(kind="import").latest("created")
    run_here(job)
    return job


USES = {"name": "cinema", "f0-type": "film", "f0-c0-use": "id", "f0-c1-use": "name", "f0-c2-use": "edge",
        "f0-c2-relation": "directed by", "f0-ids": "column", "f1-type": "human"}  # fmt: skip


def test_a_second_import_is_offered_the_mapping_of_the_first_and_takes_it(staff: Client) -> None:
    first = sent(staff, ("films.csv", FILMS), ("people.csv", PEOPLE))
    assert "was imported from files like these" not in mapping_page(staff, first)
    staff.post(reverse(f"{START}_mapping", args=[first.pk]), USES)
    imported(staff, first, visibility="public")
    stored = Snapshot.objects.get().mapping
    assert stored["files"][0]["columns"]["by"] == {"use": "edge", "relation": "directed by"}

    wider = FILMS.replace(b"by\n", b"by,stars\n").replace(b"p1\n", b"p1,4\n")
    second = sent(staff, ("films.csv", wider), ("people-2.csv", PEOPLE))
    page = mapping_page(staff, second)
    assert "was imported from files like these (films.csv, people-2.csv)" in page
    assert "?like=cinema" in page
    taken = mapping_page(staff, second, like="cinema")
    assert 'value="directed by"' in taken
    assert "New since then, and guessed: stars in films.csv." in taken
    assert taken.count("as at the last import<") == 5
    assert 'name="name" value="cinema"' in taken
    # The page is sent to its own address, so that what the form does not show is the earlier import's too.
    address = reverse(f"{START}_mapping", args=[second.pk]) + "?like=cinema"
    assert staff.post(address, {"name": "cinema", "f0-type": "film", "f1-type": "human"}).status_code == 302
    kept = Upload.objects.get(pk=second.pk).mapping
    assert [file["type"] for file in kept["files"]] == ["film", "human"]
    imported(staff, second)
    assert Snapshot.objects.filter(knowledge_base__name="cinema").count() == 2


def test_files_that_were_mended_and_sent_again_are_offered_the_mapping_that_was_begun(staff: Client) -> None:
    first = sent(staff, ("films.csv", FILMS), ("people.csv", PEOPLE))
    staff.post(reverse(f"{START}_mapping", args=[first.pk]), USES)
    second = sent(staff, ("films.csv", FILMS + b"3,Cold Bay,p1\n"), ("people.csv", PEOPLE))
    page = mapping_page(staff, second)
    assert "An import of <strong>cinema</strong> from files like these was begun on" in page
    assert f"?like={first.pk}" in page
    taken = mapping_page(staff, second, like=str(first.pk))
    assert "What the columns are is as you said for the import of <strong>cinema</strong>" in taken
    assert 'value="directed by"' in taken
    # An import with it is newer than what was begun before, which is not offered beside it.
    staff.post(reverse(f"{START}_mapping", args=[second.pk]) + f"?like={first.pk}", USES)
    imported(staff, second, visibility="public")
    third = mapping_page(staff, sent(staff, ("films.csv", FILMS), ("people.csv", PEOPLE)))
    assert "was imported from files like these" in third
    assert "was begun on" not in third


def test_a_new_knowledge_base_is_searched_by_those_whom_the_page_asks_for(staff: Client) -> None:
    upload = sent(staff, ("films.csv", FILMS), ("people.csv", PEOPLE))
    staff.post(reverse(f"{START}_mapping", args=[upload.pk]), USES)
    check = staff.get(reverse(f"{START}_check", args=[upload.pk])).content.decode()
    assert "Who may search it" in check
    assert '<option value="public" selected>Everybody' in check
    imported(staff, upload, visibility="staff")
    assert KnowledgeBase.objects.get().visibility == "staff"

    again = staff.get(reverse(f"{START}_check", args=[upload.pk])).content.decode()
    assert '<option value="" selected>As now: Staff' in again
    imported(staff, upload, visibility="")
    assert KnowledgeBase.objects.get().visibility == "staff"
    imported(staff, upload, visibility="members", tolerance="1")
    assert KnowledgeBase.objects.get().visibility == "members"
    assert AuditEntry.objects.get(action="visibility changed by an import").details == {
        "before": "staff", "after": "members",
    }  # fmt: skip


def test_the_visibility_of_a_base_that_the_page_did_not_ask_about_stays(staff: Client) -> None:
    KnowledgeBase.objects.create(name="secret", visibility="staff")
    upload = sent(staff, ("films.csv", FILMS), ("people.csv", PEOPLE))
    staff.post(reverse(f"{START}_mapping", args=[upload.pk]), USES)
    imported(staff, upload, name="secret", visibility="public")
    assert KnowledgeBase.objects.get(name="secret").visibility == "staff"


def test_a_file_without_ids_says_so_and_its_rows_are_numbered(staff: Client) -> None:
    upload = sent(staff, ("reviews.csv", REVIEWS))
    page = mapping_page(staff, upload)
    assert "no column says id, and none looks like one" in page
    assert '<option value="rows" selected>' in page
    assert "reviews/2" in page
    refused = staff.post(
        reverse(f"{START}_mapping", args=[upload.pk]), {"name": "no name!", "f0-ids": "column", "f0-type": ""}
    )
    shown = refused.content.decode()
    assert refused.status_code == 400
    # Each fault stands in the field that it is about, and the field points to it.
    for field, sentence in (("f0-numbered", "No column has the use"), ("f0-type", "Entities need"), ("name", "name")):
        assert f'aria-describedby="{field}-fault"' in shown
        begin = shown.index(f'id="{field}-fault"')
        assert sentence in shown[begin : begin + 120]
