"""Questions and evaluations in the admin: every page opens, nothing can be changed, links lead to what was asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import get_commands
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from search.models import KnowledgeBase, SavedSearch, SearchRun
from training.admin import empty
from training.data.examples import Example
from training.models import AnnotationQueue, Evaluation, Question, QuestionSet
from training.services.evaluate import evaluate
from training.services.question_sets import register_questions

pytestmark = pytest.mark.django_db
LISTS = {"questionset": empty.QUESTION_SETS, "question": empty.QUESTIONS, "evaluation": empty.EVALUATIONS}
EXAMPLES = [Example("one", "<b>who?</b>", ("film/1",), "val"), Example("two", "what else", ("film/2",), "val")]


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin", password="x"))
    return client


@pytest.fixture
def measured(films: KnowledgeBase, tmp_path: Path) -> Evaluation:
    """An evaluation of two questions of a set; a second one asked the first question alone."""
    kept, _ = register_questions(knowledge_base="films", examples=EXAMPLES, name="asked")
    for asked in (EXAMPLES[:1], EXAMPLES):
        report = evaluate(
            knowledge_base="films", examples=asked, split="val", pipelines=["text"], settings={}, output=tmp_path,
            question_set=kept,
        )  # fmt: skip
    return Evaluation.objects.get(pk=report["evaluation"])


def page(staff: Client, address: str) -> str:
    answer = staff.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def followed(staff: Client, shown: str, text: str) -> str:
    """Follow the link with this text."""
    found = re.search(rf'href="([^"]+)">{text}</a>', shown)
    assert found is not None
    return page(staff, found.group(1).replace("&amp;", "&"))


def row(model: str, pk: object) -> str:
    return reverse(f"admin:training_{model}_change", args=[pk])


@pytest.mark.parametrize("model", LISTS)
def test_an_empty_list_says_how_a_first_entry_is_made(staff: Client, model: str) -> None:
    shown, words = page(staff, reverse(f"admin:training_{model}_changelist")), LISTS[model]
    assert words.title in shown
    assert escape(words.next) in shown
    assert escape(words.command) in shown
    assert set(re.findall(r"manage\.py (\w+)", words.command)) <= set(get_commands())


@pytest.mark.parametrize("model", LISTS)
def test_every_list_and_row_opens_and_nothing_can_be_changed(staff: Client, measured: Evaluation, model: str) -> None:
    kind = apps.get_model("training", model)
    assert "<b>who?</b>" not in page(staff, reverse(f"admin:training_{model}_changelist"))
    count, first = kind._default_manager.count(), kind._default_manager.first()
    assert first is not None
    assert "<b>who?</b>" not in page(staff, row(model, first.pk))
    imported = model == "questionset"  # Sets are imported on the page that adds them, and never changed.
    assert staff.get(reverse(f"admin:training_{model}_add")).status_code == (200 if imported else 403)
    assert staff.post(reverse(f"admin:training_{model}_delete", args=[first.pk]), {"post": "yes"}).status_code == 403
    assert staff.post(row(model, first.pk), {}).status_code == 403
    assert kind._default_manager.count() == count


def test_counting_a_faulty_queue_says_only_what_is_missing(staff: Client, measured: Evaluation) -> None:
    address = reverse("admin:training_annotationqueue_add")
    given = {"knowledge_base": "films", "rule": "random", "limit": "5", "seed": "1", "overlap": "2"}
    counted = staff.post(address, given | {"_count": ""}).content.decode()
    assert "needs an evaluation to look at" in counted
    assert "The queue was not made" not in counted
    assert "The queue was not made" in staff.post(address, given | {"_make": ""}).content.decode()


def test_whoever_makes_a_queue_sees_it_among_the_queues_and_takes_no_part_in_it(
    staff: Client, measured: Evaluation
) -> None:
    given = {"name": "Mine", "knowledge_base": "films", "rule": "random", "limit": "5", "seed": "1", "overlap": "2",
             "guideline": "Judge.", "evaluations": str(measured.pk), "_make": ""}  # fmt: skip
    answer = staff.post(reverse("admin:training_annotationqueue_add"), given)
    queue = AnnotationQueue.objects.get()
    assert answer["Location"] == f"{reverse('annotate')}#queue{queue.pk}"
    assert staff.get(reverse("annotate"), {"open": "1"})["Location"] == reverse("annotate-queue", args=[queue.pk])
    overview = page(staff, reverse("annotate"))
    assert "The queue “Mine” has" in overview
    assert f'<li id="queue{queue.pk}">' in overview
    assert page(staff, reverse("annotation-agreement", args=[queue.pk]))


TASKS = {"name": "Brought", "knowledge_base": "films", "rule": "tasks", "limit": "5", "seed": "1", "overlap": "1"}


def test_a_file_of_tasks_is_shown_with_its_faults_and_made_once_they_are_mended(
    staff: Client, films: KnowledgeBase
) -> None:
    address = reverse("admin:training_annotationqueue_add")
    wrong = SimpleUploadedFile("tasks.csv", b"question;result\nWho?;film/1\nWhere?;film/99\n;film/2\n")
    page = staff.post(address, TASKS | {"file": wrong, "_make": ""}).content.decode()
    # What a line lacks is said first; what the base lacks, once all lines can be read.
    assert "Line 4: it has no question." in page
    assert "Where?;film/99" in page
    mended = "question;result\nWho?;film/1\nWhere?;film/99"
    page = staff.post(address, TASKS | {"tasks": mended, "_make": ""}).content.decode()
    assert "Line 3: films-1 has no entity with the id &#x27;film/99&#x27;." in page
    assert not AnnotationQueue.objects.exists()
    good = SimpleUploadedFile("tasks.csv", b"question;result\nWho?;film/1\nWhere?;film/2")
    counted = staff.post(address, TASKS | {"file": good, "_count": ""}).content.decode()
    assert "The rule matches 2 candidates" in counted
    assert "Where?;film/2" in counted
    staff.post(address, TASKS | {"tasks": mended.replace("99", "2"), "_make": ""})
    queue = AnnotationQueue.objects.get()
    assert sorted(queue.items.values_list("question", "node_id")) == [("Where?", "film/2"), ("Who?", "film/1")]


def test_a_file_beside_pasted_lines_or_in_another_encoding_is_refused(staff: Client, films: KnowledgeBase) -> None:
    address = reverse("admin:training_annotationqueue_add")
    for content, pasted, said in (
        (b"Who?", "Where?", "Give either a file or pasted lines."),
        ("Wo wächst er?".encode("latin-1"), "", "Line 1: it is not in UTF-8"),
    ):
        given = TASKS | {"file": SimpleUploadedFile("tasks.txt", content), "tasks": pasted, "_make": ""}
        assert said in staff.post(address, given).content.decode()
    assert not AnnotationQueue.objects.exists()


def test_saved_searches_are_offered_to_who_saved_them(staff: Client, films: KnowledgeBase) -> None:
    run = SearchRun.objects.create(
        question="Who?", knowledge_base=films, knowledge_base_name="films", pipeline="text", status="done",
        answer={"ranking": {"ids": ["film/1", "film/2"], "scores": [2.0, 1.0], "total": 2}},
    )  # fmt: skip
    SavedSearch.objects.create(run=run, user=User.objects.get(username="admin"), name="Kept")
    SavedSearch.objects.create(run=run, user=User.objects.create_user("other"), name="Not mine")
    address = reverse("admin:training_annotationqueue_add")
    shown = page(staff, address)
    assert f'<option value="{run.pk}">Kept (films)</option>' in shown
    assert "Not mine" not in shown
    staff.post(address, TASKS | {"rule": "saved", "saved": [str(run.pk)], "_make": ""})
    assert set(AnnotationQueue.objects.get().items.values_list("node_id", flat=True)) == {"film/1", "film/2"}


def test_evaluations_of_a_queue_are_chosen_by_what_they_are(staff: Client, measured: Evaluation) -> None:
    address = reverse("admin:training_annotationqueue_add")
    told = "films: [^<]+"
    assert re.search(rf'<option value="{measured.pk}">{told}', page(staff, address))
    assert re.search(
        rf'<option value="{measured.pk}" selected>{told}', page(staff, f"{address}?evaluations={measured.pk}")
    )
    given = {"knowledge_base": "films", "rule": "random", "limit": "5", "seed": "1", "overlap": "2", "_count": ""}
    counted = staff.post(address, given | {"evaluations": [str(measured.pk), "nobody"]}).content.decode()
    assert "nobody" in counted
    assert "What is wrong is said beside each field." in counted


def test_an_evaluation_shows_its_figures_and_leads_to_its_searches(staff: Client, measured: Evaluation) -> None:
    shown = page(staff, row("evaluation", measured.pk))
    assert measured.report is not None
    assert f"{measured.report['pipelines']['text']['metrics']['H@1']:.1f}" in shown
    assert "2 search runs" in " ".join(followed(staff, shown, "Show its searches").split())


def test_evaluations_are_listed_by_what_differs(staff: Client, measured: Evaluation) -> None:
    listed = page(staff, reverse("admin:training_evaluation_changelist"))
    names = re.findall(r"/evaluation/[\w-]+/change/[^>]*>([^<]+)</a>", listed)
    assert names == ["films: 2 questions · text", "films: 1 question · text"]
    assert f">{measured.pk}<" not in listed


def test_a_question_set_leads_to_its_questions_and_they_to_their_searches(staff: Client, measured: Evaluation) -> None:
    shown = page(staff, row("questionset", QuestionSet.objects.get().pk))
    assert "2 questions" in " ".join(followed(staff, shown, "Show its questions").split())
    assert "2 evaluations" in " ".join(followed(staff, shown, "Show its evaluations").split())
    launching = followed(staff, shown, "Launch one")
    chosen = re.findall(r'<option value="([^"]+)" selected', launching)
    assert chosen == ["films", "films/asked@1"]
    shown = page(staff, row("question", Question.objects.get(identifier="two").pk))
    assert "1 search run" in " ".join(followed(staff, shown, "Show its searches").split())


@pytest.mark.parametrize("model", ["question", "evaluation"])
def test_a_list_costs_the_same_however_long_it_is(
    staff: Client, measured: Evaluation, django_assert_max_num_queries, model: str
) -> None:
    more = [Example(f"more-{at}", f"question {at}", ("film/1",), "val") for at in range(20)]
    kept, _ = register_questions(knowledge_base="films", examples=more, name="more")
    for _ in range(20):
        Evaluation.objects.create(knowledge_base=measured.knowledge_base, release_name="films-1", question_set=kept)
    address = reverse(f"admin:training_{model}_changelist")
    with django_assert_max_num_queries(14):
        staff.get(address)


def test_the_menu_has_them(staff: Client) -> None:
    shown = page(staff, reverse("admin:index"))
    for model in LISTS:
        assert f'href="{reverse(f"admin:training_{model}_changelist")}"' in shown
