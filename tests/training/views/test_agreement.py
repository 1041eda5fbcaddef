"""The pages of agreement: for leads alone, with decisions, exports, a question set and corrections behind them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from search.models import KnowledgeBase
from tests.training.services.annotation.judged_queue import judge, judged_queue, person
from training.data.examples import Example
from training.models import AnnotationQueue, Correction, Evaluation, Judgement, QuestionSet
from training.services.evaluate import evaluate


@pytest.fixture
def queue(films: KnowledgeBase) -> AnnotationQueue:
    return judged_queue(films)


@pytest.fixture
def lead(client: Client, queue: AnnotationQueue) -> Client:
    """The queue's author, with an annotator's rights."""
    rights = ("add_questionset", "view_evaluation", "view_questionset")
    person("lee").user_permissions.add(*Permission.objects.filter(codename__in=rights))
    client.force_login(User.objects.get(username="lee"))
    return client


def text(client: Client, name: str, queue: AnnotationQueue, query: str = "") -> str:
    answer = client.get(reverse(name, args=[queue.pk]) + query)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_a_lead_reads_the_figures_and_what_they_mean(lead: Client, queue: AnnotationQueue) -> None:
    page = text(lead, "annotation-agreement", queue)
    for said in ("Krippendorff's α", "ann and bea", "Disagreements (3)", "No language model has judged", "α is 0."):
        assert said in page


def test_one_grade_alone_is_not_agreed_yet(lead: Client, queue: AnnotationQueue) -> None:
    page = text(lead, "annotation-agreement", queue)
    # Item 4 has one grade and one person who was unsure.
    assert "<dt>with one grade: not agreed yet</dt><dd>1</dd>" in page
    items = text(lead, "annotation-items", queue, "?show=all")
    assert items.count("Not agreed yet:") == 1
    assert "there is one grade, 0, which counts until somebody else" in items
    AnnotationQueue.objects.update(overlap=1)
    assert "by the one person who judges each item" in text(lead, "annotation-items", queue, "?show=all")


def test_a_decision_made_meanwhile_is_not_replaced_silently(lead: Client, queue: AnnotationQueue) -> None:
    item = queue.items.get(position=2)
    address = reverse("annotation-decide", args=[queue.pk, item.pk])
    lead.post(address, {"grade": "3", "note": "a full answer", "seen": "0"})
    # Another browser showed the page before that decision.
    said = lead.post(address, {"grade": "1", "note": "half of it", "seen": "0"}, follow=True).content.decode()
    assert "lee has decided meanwhile, and gave it the final grade 3, with the note “a full answer”" in said
    assert [one.note for one in item.adjudications.all()] == ["a full answer"]
    seen = item.adjudications.get().pk
    assert f'name="seen" value="{seen}"' in text(lead, "annotation-items", queue)
    lead.post(address, {"grade": "1", "note": "half of it", "seen": str(seen)})
    assert item.adjudications.order_by("-pk").first().note == "half of it"


def test_others_and_those_who_judge_see_nothing(client: Client, lead: Client, queue: AnnotationQueue) -> None:
    for name in ("annotation-agreement", "annotation-items", "annotation-export"):
        address = reverse(name, args=[queue.pk])
        assert Client().get(address).status_code == 302
        other = Client()
        other.force_login(person("ann"))
        refused = other.get(address)
        assert (refused.status_code, "for whoever made the queue (lee)" in refused.content.decode()) == (403, True)
    judge(queue.items.get(position=5), person("lee"), 0)
    refused = lead.get(reverse("annotation-agreement", args=[queue.pk]))
    assert refused.status_code == 403
    page = refused.content.decode()
    for said in ("2 items can still be judged by you", "1 item waits for other annotators", "ask an admin to close"):
        assert said in page
    AnnotationQueue.objects.filter(pk=queue.pk).update(state="closed")
    assert lead.get(reverse("annotation-agreement", args=[queue.pk])).status_code == 200
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.STAFF)
    assert lead.get(reverse("annotation-agreement", args=[queue.pk])).status_code == 404


def test_a_decision_and_a_correction_are_made_beside_the_item(lead: Client, queue: AnnotationQueue) -> None:
    item = queue.items.get(position=2)
    before = list(Judgement.objects.values())
    address = reverse("annotation-decide", args=[queue.pk, item.pk])
    assert lead.post(address, {"grade": "3", "note": "It is.", "at": f"item{item.pk}"}).status_code == 302
    page = text(lead, "annotation-items", queue, "?show=all")
    assert "<b>Final grade 3</b>, adjudicated by lee: <q>It is.</q>" in page
    assert list(Judgement.objects.values()) == before
    answer = lead.post(address, {"grade": "9"}, follow=True)
    assert "A grade is a whole number from 0 to 3." in answer.content.decode()
    lead.post(reverse("annotation-correct", args=[queue.pk, item.pk]))
    kept = Correction.objects.get()
    assert (kept.question, kept.answers) == ("third", ["film/3", "film/1"])
    assert "training example</a>" in text(lead, "annotation-items", queue, "?show=all")
    listed = lead.get(reverse("corrections")).content.decode()
    assert ">third</th>" in listed
    assert lead.post(reverse("correction-delete", args=[kept.pk])).status_code == 403


def test_a_correction_of_a_question_kept_for_measuring_says_that_nothing_is_learned_from_it(
    lead: Client, queue: AnnotationQueue
) -> None:
    said = "is in the split val of its set, on which reports are measured: nothing is learned from it"
    assert said not in text(lead, "annotation-items", queue, "?show=all")
    third = queue.items.filter(question="third")
    third.update(split="val")
    assert said in text(lead, "annotation-items", queue, "?show=all")
    item = third.get(position=2)
    answer = lead.post(reverse("annotation-correct", args=[queue.pk, item.pk]), follow=True).content.decode()
    assert answer.count(said) >= 2
    assert "“third” is kept as a training example now" in answer


def test_files_and_a_question_set_come_of_the_page_and_of_the_command(
    lead: Client, queue: AnnotationQueue, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = reverse("annotation-export", args=[queue.pk])
    qrels = b"".join(lead.get(f"{address}?format=qrels")).decode()
    assert qrels.splitlines()[0] == "q1 0 film/1 3"
    assert lead.get(f"{address}?format=xls").status_code == 404
    call_command("export_judgements", "films", "Lost answers", "--as=qrels", f"--output={tmp_path / 'a.qrels'}")
    assert (tmp_path / "a.qrels").read_text() == qrels
    made = lead.post(reverse("annotation-question-set", args=[queue.pk]), {"name": "judged"})
    assert made.status_code == 302
    stored = QuestionSet.objects.get(name="judged")
    assert stored.author == person("lee")
    capsys.readouterr()
    call_command("export_judgements", "films", str(queue.pk), "--set-name=judged", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["question_set"], told["version"], told["new"]) == ("judged", 1, False)
    with pytest.raises(SystemExit) as ended:
        call_command("export_judgements", "films", "Lost answer")
    assert ended.value.code == 2
    assert "films has no annotation queue 'Lost answer'; there are: Lost answers." in capsys.readouterr().err


def test_the_rule_of_final_grades_is_chosen(lead: Client, queue: AnnotationQueue) -> None:
    address = reverse("annotation-rule", args=[queue.pk])
    lead.post(address, {"rule": "median", "relevant_from": "1"})
    assert (queue.final_rule.rule, queue.final_rule.relevant_from) == ("median", 1)
    answer = lead.post(address, {"rule": "loudest", "relevant_from": "x"}, follow=True)
    assert "A rule is one of: majority, median." in answer.content.decode()


def test_a_report_shows_what_was_judged(lead: Client, films: KnowledgeBase) -> None:
    """Of film/1, film/2 and film/3, in this order, the first is an answer and the third was judged wrong."""
    asked = [
        Example("q1", "first", ("film/1",), "val", {}, {"film/1": 3, "film/3": 0}),
        Example("q2", "third", ("film/3",), "val"),
    ]
    report = evaluate(knowledge_base="films", examples=asked, split="val", pipelines=["text"], settings={})
    part = report["pipelines"]["text"]["judged"]
    assert (part["questions"], part["judgements"]) == (1, 2)
    assert part["metrics"] == {"bpref": 100.0, "judged@5": 66.67, "judged@10": 66.67, "judged@20": 66.67}
    evaluation = Evaluation.objects.get(pk=report["evaluation"])
    assert "What was judged" in lead.get(reverse("evaluation-report", args=[evaluation.pk])).content.decode()
    page = lead.get(reverse("evaluation-question", args=[evaluation.pk, 0])).content.decode()
    assert page.count("judged 3") == page.count("judged 0") == page.count("not judged") == 1
    other = lead.get(reverse("evaluation-question", args=[evaluation.pk, 1])).content.decode()
    assert "judged" not in other.split("<main")[1]
    qrels = "".join(part.decode() for part in lead.get(
        reverse("evaluation-file", args=[evaluation.pk]) + "?format=qrels"
    ))  # fmt: skip
    assert qrels.splitlines() == ["q1 0 film/1 1", "q1 0 film/3 0", "q2 0 film/3 1"]
