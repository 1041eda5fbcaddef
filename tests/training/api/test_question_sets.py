"""Question sets over the API: imported in every form, checked, compared, made of feedback, by who has the right."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from search.models import Feedback, KnowledgeBase, SearchRun
from search.services.access.visitors import NOBODY
from search.services.feedback.give_feedback import give_feedback
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.models import Question, QuestionSet

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/question-sets/"
QUESTION = {"id": "1", "text": "Who made Amber Road?", "answers": ["person/1"], "split": "train"}
JSONL = json.dumps(QUESTION) + "\n"


@pytest.fixture
def annotator(films: KnowledgeBase) -> Client:
    user = User.objects.create_user("annotator")
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_questionset", "add_questionset"]))
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def post(client: Client, body: Any, address: str = "") -> Any:
    return client.post(f"{ADDRESS}{address}", json.dumps(body), content_type="application/json")


def faults(answer: Any) -> list[str]:
    assert answer.status_code == 400, answer.content
    assert not QuestionSet.objects.exists()
    return [error["message"] for error in answer.json()["errors"]]


def test_questions_in_json_are_checked_stored_and_listed(annotator: Client) -> None:
    body = {"knowledge_base": "films", "name": "asked", "questions": [QUESTION]}
    answer = post(annotator, body)
    assert answer.status_code == 201
    told = answer.json()
    assert (told["name"], told["version"], told["questions"], told["splits"]) == ("asked", 1, 1, {"train": 1})
    assert (told["author"], told["new"], told["refused"]) == ("annotator", True, [])
    assert told["checks"]["answers"]["known"] == 1
    again = post(annotator, body)
    assert (again.status_code, again.json()["new"], again.json()["id"]) == (200, False, told["id"])
    listed = annotator.get(f"{ADDRESS}?knowledge_base=films&name=asked").json()
    assert [one["id"] for one in listed["results"]] == [told["id"]]
    assert annotator.get(f"{ADDRESS}{told['id']}/").json()["checks"] == told["checks"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("asked.jsonl", JSONL.encode()),
        ("asked.jsonl.gz", gzip.compress(JSONL.encode(), mtime=0)),
        ("asked.csv", b'\xef\xbb\xbfid,query,answer_ids\r\n1,"Who made Amber Road?","[""person/1""]"\r\n'),
        ("asked.tsv", b"Who made Amber Road?\tperson/1\n"),
    ],
)
def test_a_file_of_any_kind_is_read(annotator: Client, name: str, content: bytes) -> None:
    answer = annotator.post(ADDRESS, {"knowledge_base": "films", "file": SimpleUploadedFile(name, content)})
    assert answer.status_code == 201, answer.content
    assert answer.json()["name"] == "asked"
    assert Question.objects.get().answers == ["person/1"]


def test_topics_come_with_their_qrels(annotator: Client) -> None:
    files = {"file": SimpleUploadedFile("t.txt", b"1\tWho?\n"), "qrels": SimpleUploadedFile("t.txt", b"1 0 film/1 1\n")}
    answer = annotator.post(ADDRESS, {"knowledge_base": "films", "name": "trec", **files})
    assert answer.status_code == 201, answer.content
    assert Question.objects.get().answers == ["film/1"]


def test_a_dry_run_tells_what_is_refused_and_stores_nothing(annotator: Client) -> None:
    twice = [QUESTION, QUESTION | {"id": "2", "split": "val"}]
    body = {"knowledge_base": "films", "name": "asked", "questions": twice}
    told = post(annotator, body | {"dry_run": True}).json()
    assert (told["id"], told["version"], told["questions"]) == (None, 0, 2)
    assert "in different splits" in told["refused"][0]
    assert "'1' in 'train' is near to '2' in 'val'" in faults(post(annotator, body))[0]
    moved = post(annotator, body | {"duplicates": "move", "into": "val"})
    assert (moved.status_code, moved.json()["splits"]) == (201, {"val": 2})


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"text": "no tab here"}, "pasted.tsv:1: a line is a question, a tab"),
        ({"text": "Who?\tnobody/1"}, "None of the answers is a node of films-1"),
        ({"text": ""}, "Give either a file or a pasted text"),
        ({"questions": []}, "answers must be a list"),
        ({"questions": "x"}, "answers must be a list"),
        ({"questions": [QUESTION], "text": "x"}, "Give one of: questions, text, file."),
        ({"questions": [QUESTION], "name": ""}, "Give the set a name."),
        ({"questions": [QUESTION], "name": "x" * 201}, "1 to 200 characters"),
        ({"questions": [QUESTION], "name": "x\x00"}, "holds a NUL character"),
        ({"questions": [QUESTION], "seed": -1}, "seed is a whole number"),
        ({"questions": [QUESTION], "duplicates": "maybe"}, "'maybe' is no way to treat duplicates"),
        ({"questions": [QUESTION], "split": "train"}, "no share of a split"),
        ({"questions": [QUESTION], "split": "train=1"}, "have splits already"),
        ({"questions": [QUESTION], "format": "parquet"}, None),
        ({"text": "x", "format": "parquet"}, "'parquet' is no format; there are: jsonl, stark, text."),
        ({"questions": [QUESTION], "nmae": "x"}, "There is no 'nmae' here"),
        ({"questions": [QUESTION], "knowledge_base": "flims"}, "There is no knowledge base 'flims'."),
        ({"questions": [QUESTION], "knowledge_base": 5}, "There is no knowledge base '5'."),
        ({"text": 5}, "text is a text"),
    ],
)
def test_bad_input_gets_a_sentence_and_stores_nothing(
    annotator: Client, more: dict[str, Any], sentence: str | None
) -> None:
    answer = post(annotator, {"knowledge_base": "films", "name": "asked"} | more)
    if sentence is None:
        assert answer.status_code == 201
        return
    told = faults(answer)
    assert any(sentence in fault for fault in told), told


def test_latin_1_and_what_is_no_file_are_told(annotator: Client) -> None:
    upload = SimpleUploadedFile("../../../etc/q.tsv", "Où?\tfilm/1\n".encode("latin-1"))
    told = faults(annotator.post(ADDRESS, {"knowledge_base": "films", "file": upload}))
    assert told[0].startswith("q.tsv:1: cannot be read as UTF-8 text: byte 2 of the line is 0xF9, in Latin-1 'ù'.")
    assert (
        "q.jsonl is empty"
        in faults(annotator.post(ADDRESS, {"knowledge_base": "films", "file": SimpleUploadedFile("q.jsonl", b"")}))[0]
    )


def test_versions_are_compared(annotator: Client) -> None:
    body = {"knowledge_base": "films", "name": "asked"}
    first = post(annotator, body | {"questions": [QUESTION]}).json()["id"]
    assert annotator.get(f"{ADDRESS}{first}/changes/").json()["before"] is None
    other = {"id": "2", "text": "What else?", "answers": ["film/1"], "split": "train"}
    changed = QUESTION | {"answers": ["person/1", "film/2"]}
    second = post(annotator, body | {"questions": [changed, other]}).json()["id"]
    told = annotator.get(f"{ADDRESS}{second}/changes/").json()
    assert told["counts"] == {"added": 1, "removed": 0, "changed": 1, "same": 0}
    assert (told["before"], told["changed"][0]["parts"], told["added"]) == (first, ["answers"], [other])
    assert annotator.get(f"{ADDRESS}{second}/changes/?before={second}").json()["counts"]["same"] == 2
    assert annotator.get(f"{ADDRESS}{second}/changes/?before=x").status_code == 400
    assert annotator.get(f"{ADDRESS}{second}/changes/?before=999999").status_code == 404


def test_only_who_has_the_right_sees_and_imports(annotator: Client, films: KnowledgeBase) -> None:
    body = {"knowledge_base": "films", "name": "asked", "questions": [QUESTION]}
    made = post(annotator, body).json()["id"]
    searcher = Client()
    searcher.force_login(User.objects.create_user("searcher"))
    for client, refused in ((Client(), 401), (searcher, 403)):
        assert client.get(ADDRESS).status_code == refused
        assert client.get(f"{ADDRESS}{made}/").status_code == refused
        assert post(client, body).status_code == refused
        assert post(client, {"knowledge_base": "films"}, "from-feedback/").status_code == refused
    films.visibility = KnowledgeBase.Visibility.MEMBERS
    films.save()
    assert annotator.get(ADDRESS).json()["count"] == 0
    assert annotator.get(f"{ADDRESS}{made}/").status_code == 404
    assert post(annotator, body).status_code == 400


def judged(question: str, user: User, **kinds: str) -> SearchRun:
    run = run_search(request_search(knowledge_base="films", question=question, enqueue=False).pk)
    for node, kind in kinds.items():
        give_feedback(run, node=node.replace("_", "/"), kind=kind, user=user, visitor=NOBODY)
    return run


def test_feedback_becomes_questions_and_disagreement_is_listed(annotator: Client, services: object) -> None:
    ada, ben, cy = (User.objects.create_user(name) for name in ("ada", "ben", "cy"))
    judged("Which films did Ada Holm direct?", ada, film_1="right", film_3="wrong", person_1="missing")
    judged("which films did ADA HOLM direct", ben, film_1="wrong", film_2="right")
    judged("Which films did Ada Holm direct", cy, film_1="right")
    # Who changed their mind in a later search is counted once.
    judged("Which films did Ada Holm direct", ben, film_2="wrong")
    judged("Nothing right here?", cy, film_1="wrong")
    answer = post(annotator, {"knowledge_base": "films", "split": "train=1"}, "from-feedback/")
    assert answer.status_code == 201, answer.content
    told = answer.json()
    assert (told["name"], told["source"], told["splits"]) == ("feedback", "feedback", {"train": 1})
    question = Question.objects.get()
    assert (question.text, question.answers) == ("Which films did Ada Holm direct?", ["film/1", "person/1"])
    assert question.slices == {"people": "3"}
    assert told["conflicts"] == [
        {"question": question.text, "node": "film/1", "name": "Amber Road", "right": 2, "wrong": 1}
    ]
    assert told["without_answer"] == ["Nothing right here?"]
    assert Feedback.objects.count() == 8


def test_without_feedback_there_is_a_sentence(annotator: Client) -> None:
    for body in ({}, {"since": "2020-01-31"}, {"since": "2020-01-31T10:00:00Z"}):
        told = faults(post(annotator, {"knowledge_base": "films"} | body, "from-feedback/"))
        assert told == ["No feedback has named an answer to a question about films yet: there is no feedback."]
    for since in ("yesterday", 5, "2020-13-45"):
        told = faults(post(annotator, {"knowledge_base": "films", "since": since}, "from-feedback/"))
        assert told == ["since is a day or a time, such as 2026-01-31."]
