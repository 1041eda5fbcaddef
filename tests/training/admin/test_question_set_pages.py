"""Importing question sets in the admin: nothing is saved before the preview is confirmed, and by its author only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from search.models import KnowledgeBase
from training.data.examples import Example
from training.models import Question, QuestionSet
from training.services.question_drafts import QuestionDraft, keep_draft, read_draft

pytestmark = pytest.mark.django_db
ADD = "/admin/training/questionset/add/"
LEAKING = '{"id": "1", "text": "Who made Amber Road?", "answers": ["person/1"], "split": "train"}\n' \
    '{"id": "2", "text": "who made amber road", "answers": ["person/l"], "split": "val"}\n'  # fmt: skip


@pytest.fixture
def staff(client: Client, films: KnowledgeBase, settings: Settings, tmp_path: Path) -> Client:
    settings.GRASP_HOME = tmp_path
    client.force_login(User.objects.create_superuser("admin", password="x"))
    return client


def words(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def previewed(staff: Client, **fields: Any) -> str:
    answer = staff.post(ADD, {"knowledge_base": "films", **fields})
    assert answer.status_code == 302, words(answer)
    return str(answer.headers["Location"])


def test_an_upload_is_previewed_and_saved_only_on_a_choice_about_its_duplicates(staff: Client) -> None:
    preview = previewed(staff, file=SimpleUploadedFile("asked.jsonl", LEAKING.encode()))
    shown = words(staff.get(preview))
    assert "2 questions for films, from asked.jsonl: 1 train, 1 val. Nothing is saved yet." in shown
    assert "This cannot be saved so." in shown
    assert "same text (1.00), across splits" in shown
    assert "person/l person/1 2" in shown
    refused = staff.post(preview, {"name": "asked", "duplicates": "refuse", "into": "val", "save": "1"})
    assert "This cannot be saved so." in words(refused)
    checked = staff.post(preview, {"name": "asked", "duplicates": "move", "into": "val", "check": "1"})
    assert "2 val. Nothing is saved yet." in words(checked)
    assert not QuestionSet.objects.exists()
    saved = staff.post(preview, {"name": "named", "duplicates": "move", "into": "val", "save": "1"}, follow=True)
    made = QuestionSet.objects.get()
    assert (made.name, made.splits, made.source) == ("named", {"val": 2}, "asked.jsonl")
    assert made.author is not None
    assert made.author.username == "admin"
    assert "named 1 for Films is saved." in words(saved) or "is saved." in words(saved)
    assert staff.get(preview).status_code == 302


def test_pasted_lines_are_divided_by_shares(staff: Client) -> None:
    pasted = "".join(f"Who made thing{at}?\tperson/1\n" for at in range(40))
    preview = previewed(staff, pasted=pasted, name="typed")
    faulty = staff.post(preview, {"name": "typed", "split": "train", "save": "1"})
    assert faulty.status_code == 400
    assert "is no share of a split" in words(faulty)
    staff.post(preview, {"name": "typed", "split": "train=3, val=1", "seed": "1", "save": "1"})
    splits = QuestionSet.objects.get().splits
    assert splits.keys() == {"train", "val"}
    assert sum(splits.values()) == 40


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Give either a file or a pasted text"),
        ({"pasted": "no tab"}, "pasted.tsv:1: a line is a question, a tab"),
        ({"file": SimpleUploadedFile("q.jsonl", "é".encode("latin-1"))}, "q.jsonl:1: cannot be read as UTF-8 text"),
        ({"file": SimpleUploadedFile("q.csv", b"a,b\n1,2\n")}, "q.csv lacks the columns"),
        ({"pasted": "a\tb", "knowledge_base": "nowhere"}, "Select a valid choice"),
    ],
)
def test_bad_uploads_get_a_sentence_on_the_form(staff: Client, fields: dict[str, Any], sentence: str) -> None:
    answer = staff.post(ADD, {"knowledge_base": "films"} | fields)
    assert answer.status_code == 400
    assert sentence in words(answer)
    assert not Question.objects.exists()


def test_a_set_whose_answers_are_all_unknown_cannot_be_saved(staff: Client) -> None:
    preview = previewed(staff, pasted="Who?\tnobody/1\n")
    answer = staff.post(preview, {"name": "x", "save": "1"})
    assert "None of the answers is a node of films-1" in words(answer)
    assert not QuestionSet.objects.exists()


def test_a_preview_belongs_to_its_author_and_ends(staff: Client) -> None:
    preview = previewed(staff, pasted="Who?\tfilm/1\n")
    other = Client()
    other.force_login(User.objects.create_superuser("other", password="x"))
    answer = other.get(preview, follow=True)
    assert "no longer kept, or is another account" in words(answer)
    assert staff.get("/admin/training/questionset/preview/..%2f..%2fx/", follow=True).status_code in (200, 404)


def test_a_draft_comes_back_as_it_was(staff: Client) -> None:
    draft = QuestionDraft("films", "n", "s", (Example("1", "Wo\n?", ("ä", "b"), "val", {"hops": "2"}),), ("a note",))
    token = keep_draft(draft, 7)
    assert read_draft(token, 7) == draft
    assert read_draft(token, 8) is None
    assert read_draft("../x", 7) is None


def test_versions_are_compared_on_a_page(staff: Client) -> None:
    for lines in ("Who?\tfilm/1\nWhat?\tfilm/2\n", "Who?\tfilm/3\nWhere?\tfilm/1\n"):
        staff.post(previewed(staff, pasted=lines, name="typed"), {"name": "typed", "save": "1"})
    first, second = QuestionSet.objects.order_by("version")
    shown = words(staff.get(reverse("admin:training_questionset_changes", args=[second.pk])))
    assert "Since version 1: 1 added, 1 removed, 1 changed, 0 the same." in shown
    assert "− film/1" in shown
    assert "+ film/3" in shown
    assert "This is the first version" in words(
        staff.get(reverse("admin:training_questionset_changes", args=[first.pk]))
    )
    assert staff.get(reverse("admin:training_questionset_changes", args=[second.pk]) + "?before=99").status_code == 404


def test_without_feedback_the_page_says_so(staff: Client) -> None:
    answer = staff.post("/admin/training/questionset/from-feedback/", {"knowledge_base": "films"})
    assert answer.status_code == 400
    assert "there is no feedback" in words(answer)


def test_staff_without_the_right_get_no_page(staff: Client) -> None:
    other = Client()
    other.force_login(User.objects.create_user("other", is_staff=True))
    for address in (ADD, "/admin/training/questionset/from-feedback/", "/admin/training/questionset/1/changes/"):
        assert other.get(address).status_code == 403
