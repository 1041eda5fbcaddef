"""A language model judges a queue as one more annotator, over real HTTP; what it says carries its name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_django.fixtures import Settings

from grasp_site.settings import GRASP_TOOLS as TOOLS
from search.domain.job_kinds import JobTarget
from search.models import KnowledgeBase
from tests import recorded_model
from tests.training.services.annotation.judged_queue import judged_queue
from training.jobs.judge_items import JudgeItemsJob
from training.models import AnnotationQueue, Judgement
from training.services.annotation.judge_by_model import described, judge_by_model, prompts_of

ROWS = [("first", "film/1", (3, 3, 3)), ("third", "film/2", (0, 0, 0)), ("nowhere", "film/3", (1, 2, None))]


def said(grade: str) -> str:
    return json.dumps({"reason": f"It is a {grade}.", "grade": grade})


@contextmanager
def model(settings: Settings, answers: dict[str, str], **ways: object) -> Iterator[recorded_model.Server]:
    with recorded_model.running(answers, **ways) as server:
        settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "language_model": TOOLS["language_model"]}
        settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = server.url, "tiny-1", ""
        yield server


def test_each_item_is_judged_by_the_guideline_once(films: KnowledgeBase, settings: Settings) -> None:
    queue = judged_queue(films, ROWS)
    answers = {"Question: first": said("3"), "Question: third": said("unsure"), "Question: nowhere": said("0")}
    with model(settings, answers) as server:
        done = judge_by_model(queue)
        again = judge_by_model(queue)
    assert len(server.requests) == 3
    assert (done["judged"], done["unsure"], done["failed"], done["left"], done["reason"]) == (3, 1, 0, 0, "")
    assert (again["judged"], again["model"]) == (0, done["model"])
    rows = Judgement.objects.filter(model=done["model"]).order_by("item__position")
    assert [(row.verdict, row.grade, row.note) for row in rows] == [
        ("graded", 3, "It is a 3."), ("unsure", None, "It is a unsure."), ("graded", 0, "It is a 0."),
    ]  # fmt: skip
    assert done["model"] == f"tiny-1 #{done['fingerprint'][:12]}"
    sent = json.dumps(server.requests[0])
    assert "Grade 3 is a full answer." in sent
    annotator = queue.model_annotators.get()
    assert (annotator.fingerprint, annotator.prompt) == (done["fingerprint"], prompts_of(queue).version)
    assert annotator.tokens["completion"] > 0


def test_another_guideline_makes_another_annotator(films: KnowledgeBase, settings: Settings) -> None:
    queue = judged_queue(films, ROWS[:1])
    with model(settings, {"Question: first": said("3")}):
        first = judge_by_model(queue)["model"]
        queue.guideline = "Grade 3 is a full answer in every detail."
        assert judge_by_model(queue)["model"] != first


def test_it_stops_with_a_sentence_when_the_budget_is_spent(films: KnowledgeBase, settings: Settings) -> None:
    queue = judged_queue(films, ROWS)
    with model(settings, {}):
        done = judge_by_model(queue, most_tokens=20)
    assert (done["judged"], done["failed"], done["left"]) == (0, 0, 3)
    assert done["reason"].startswith("It stopped after 0 items: ")
    assert "20 tokens" in done["reason"]


def test_an_answer_that_cannot_be_used_is_no_judgement(films: KnowledgeBase, settings: Settings) -> None:
    queue = judged_queue(films, ROWS[:2])
    answers = {"Question: first": said("3"), "Question: third": said("5"), "one of": said("5")}
    with model(settings, answers, strict=False):
        done = judge_by_model(queue)
    assert (done["judged"], done["failed"], done["left"]) == (1, 1, 0)
    assert queue.model_annotators.get().failed == 1


def test_without_a_model_or_a_queue_the_job_is_refused(films: KnowledgeBase, settings: Settings) -> None:
    queue = judged_queue(films, ROWS)
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "language_model": TOOLS["language_model"]}
    settings.LLM_BASE_URL = ""
    [fault] = JudgeItemsJob(queue_id=queue.pk).refuse(JobTarget("films"))
    assert fault.message.startswith("No model can judge: no language model is configured")
    AnnotationQueue.objects.exclude(pk=queue.pk).delete()
    [fault] = JudgeItemsJob(queue_id=queue.pk + 1).refuse(JobTarget("films"))
    assert fault.message == f"films has no annotation queue {queue.pk + 1}; there are: {queue.pk} (Lost answers)."


def test_the_model_is_shown_what_annotators_are_shown_and_not_what_the_search_found() -> None:
    shown = {
        "name": "Rain Jacket", "type": "product", "aliases": ["RJ"],
        "fields": [{"name": "price", "values": ["40"]}],
        "relations": [{"wording": "made by", "names": ["Brannholt"], "more": 2}],
        "conditions": [{"kind": "relation", "words": "product — made by — brand", "status": "met"}],
        "paths": [[{"name": "Brannholt", "type": "brand"}, {"relation": "makes", "direction": "out"},
                   {"name": "Rain Jacket", "type": "product"}]],
    }  # fmt: skip
    assert described(shown).splitlines() == [
        "product Rain Jacket", "also called RJ", "price: 40", "made by: Brannholt and 2 more",
    ]  # fmt: skip
