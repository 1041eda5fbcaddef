"""Decisions stand beside the judgements; exports say everything; a question set knows where it comes from."""

from __future__ import annotations

import json

import pytest

from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase
from tests.training.services.annotation.judged_queue import QUESTIONS, judge, judged_queue, person
from training.data.examples import BadQuestions
from training.models import Adjudication, AnnotationQueue, Evaluation, Judgement, JudgementRevision
from training.services.annotation.adjudicate import adjudicate, choose_rule, disagreements
from training.services.annotation.export import PROVENANCE, export_queue, make_question_set
from training.services.annotation.grades import read_grades
from training.services.annotation.judge import GivenJudgement, judge_as_model
from training.services.question_sets import examples_of, register_questions

MODEL = "tiny-1 #abc"


def qrels(queue: AnnotationQueue) -> list[str]:
    return "".join(export_queue(queue, "qrels").content).splitlines()


def test_the_widest_disagreement_comes_first_and_decided_ones_last(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    assert [one.item.position for one in disagreements(read_grades(queue))] == [2, 1, 3]
    adjudicate(item=queue.items.get(position=2), user=person("lee"), grade=3)
    assert [one.item.position for one in disagreements(read_grades(queue))] == [1, 3, 2]


def test_a_decision_changes_no_judgement_and_the_newest_one_counts(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    stored = list(Judgement.objects.values()), list(JudgementRevision.objects.values())
    item = queue.items.get(position=2)
    seen = read_grades(queue).items[2].given
    adjudicate(item=item, user=person("lee"), grade=1, note="Only the sequel.", seen=seen)
    adjudicate(item=item, user=person("lee"), grade=2)
    assert (list(Judgement.objects.values()), list(JudgementRevision.objects.values())) == stored
    assert read_grades(queue).items[2].final.grade == 2
    first = Adjudication.objects.order_by("pk")[0]
    assert [one["grade"] for one in first.seen] == [1, 3]
    adjudicate(item=item, user=person("lee"), grade=None)
    assert (read_grades(queue).items[2].final.grade, Adjudication.objects.count()) == (None, 3)


def test_what_cannot_be_decided_is_refused(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    unjudged, judged = queue.items.get(position=5), queue.items.get(position=0)
    with pytest.raises(InvalidRequest) as caught:
        adjudicate(item=unjudged, user=person("lee"), grade=7, note="x" * 4_001)
    assert [fault.pointer for fault in caught.value.faults] == ["/grade", "/note", "/item"]
    with pytest.raises(InvalidRequest, match="no decision about this item that could be taken back"):
        adjudicate(item=judged, user=person("lee"), grade=None)
    with pytest.raises(InvalidRequest) as refused:
        choose_rule(queue=queue, rule="loudest", relevant_from=9, models=["nobody"])
    assert [fault.pointer for fault in refused.value.faults] == ["/rule", "/relevant_from", "/models"]


def test_qrels_hold_the_final_grades_and_leave_open_items_out(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    # Item 2 is a tie of 1 and 3; the id of its question has a space.
    assert qrels(queue) == ["q1 0 film/1 3", "q1 0 film/2 0", "q%202 0 film/1 3", "q3 0 film/2 0"]
    choose_rule(queue=queue, rule="median", relevant_from=2)
    assert "q%202 0 film/3 1" in qrels(queue)
    with pytest.raises(InvalidRequest, match="is one of: qrels, jsonl"):
        export_queue(queue, "xls")


def test_a_model_counts_only_where_the_queue_says_so_and_then_exports_say_so(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    judge_as_model(item=queue.items.get(position=2), model=MODEL, given=GivenJudgement("graded", 3))
    judge_as_model(item=queue.items.get(position=5), model=MODEL, given=GivenJudgement("graded", 2))
    queue.model_annotators.create(name=MODEL, model="tiny-1", fingerprint="abc")
    assert not [line for line in qrels(queue) if "film/3" in line]
    assert export_queue(queue, "qrels").name == "Lost_answers.qrels"
    choose_rule(queue=queue, rule="majority", relevant_from=2, models=[MODEL])
    assert [line for line in qrels(queue) if "film/3" in line] == ["q%202 0 film/3 3", "q3 0 film/3 2"]
    file = export_queue(queue, "jsonl")
    assert file.name == "Lost_answers-with-language-models.jsonl"
    first = json.loads("".join(file.content).splitlines()[0])
    assert first["provenance"]["language_models_counted"] == [MODEL]


def test_json_lines_hold_everything_with_pseudonyms(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    adjudicate(item=queue.items.get(position=2), user=person("lee"), grade=3, seen=read_grades(queue).items[2].given)
    text = "".join(export_queue(queue, "jsonl").content)
    head, *rows = map(json.loads, text.splitlines())
    assert (len(rows), len(head["provenance"]["annotators"])) == (6, 3)
    assert not any(f'"{name}"' in text for name in ("ann", "bea", "cem", "lee"))
    row = rows[2]
    assert [(one["grade"], one["blind_grade"]) for one in row["judgements"]] == [(1, 1), (3, 3)]
    assert row["final"] == {"grade": 3, "way": "adjudicated"}
    who = {one["who"] for one in row["judgements"]}
    assert {one["who"] for one in row["adjudications"][0]["seen"]} == who <= set(head["provenance"]["annotators"])


def test_a_new_version_of_the_question_set_says_where_it_comes_from(films: KnowledgeBase) -> None:
    before, _ = register_questions(knowledge_base="films", examples=list(QUESTIONS.values()), name="asked")
    queue = judged_queue(films)
    queue.evaluation = Evaluation.objects.create(
        knowledge_base=films, question_set=before, release_name="films-1", code_version="1"
    )
    queue.save()
    added = judge(queue.items.get(position=4), person("ann"), 0)
    added.expected = [{"id": "film/3", "name": "Film 3", "type": "film"}]
    added.save()
    made, new = make_question_set(queue, user=person("lee"))
    assert (made.name, made.version, new, made.author) == ("asked", before.version + 1, True, person("lee"))
    found = {one.id: one for one in examples_of(made)}
    assert found["q1"].answers == ("film/1",)
    assert found["q1"].grades == {"film/1": 3, "film/2": 0}
    assert found["q 2"].answers == ("film/3", "film/1")  # film/3 is open, so what was known stays
    assert found["q3"].answers == ("film/1", "film/3")
    assert found["q3"].split == "train"
    told = made.checks[PROVENANCE]
    assert (told["queue"], told["question_set"], len(told["annotators"])) == ("Lost answers", "asked@1", 3)
    assert "by 3 people: α 0." in made.source
    assert make_question_set(queue)[1] is False


def test_nothing_judged_makes_no_question_set(films: KnowledgeBase) -> None:
    with pytest.raises(BadQuestions, match="No item of this queue has a final grade yet"):
        make_question_set(judged_queue(films, [("first", "film/1", (None, None, None))]))
