"""Corrections are kept by one call, learned from, and what that changed is shown: of them, and of other questions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.errors import InvalidRequest
from search.domain.job_kinds import JobTarget
from search.models import KnowledgeBase, PipelineVersion
from tests.training import makers
from tests.training.services.annotation.judged_queue import judge, judged_queue, person
from training.data.examples import BadQuestions, Example
from training.data.hashes import normalised
from training.jobs.learn_corrections import LearnCorrectionsJob
from training.models import Correction, Evaluation
from training.services.annotation.corrected import corrected_questions
from training.services.annotation.corrections import keep_correction
from training.services.annotation.grades import read_grades
from training.services.annotation.item_rows import text_hash
from training.services.annotation.learn import learn_corrections, learned_of, lessons, rank_changes
from training.services.question_sets import register_questions

TAUGHT = makers.questions(end=makers.TAUGHT)
UNSEEN = makers.questions(makers.TAUGHT)


def corrected(base: KnowledgeBase, *examples: Example) -> None:
    for one in examples:
        Correction.objects.create(
            knowledge_base=base, question=one.text, text_hash=text_hash(one.text), answers=list(one.answers)
        )


def test_a_correction_is_what_people_made_of_the_question(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    found = corrected_questions(read_grades(queue))
    # first: as known. third: film/1 is an answer too. nowhere: film/2, which was rejected, stood above any answer.
    assert [(name, one.answers, one.rejected, one.corrects) for name, one in found.items()] == [
        ("first", ("film/1",), ("film/2",), False),
        ("third", ("film/3", "film/1"), (), True),
        ("nowhere", ("film/1",), ("film/2",), True),
    ]
    kept = keep_correction(queue, found["third"], person("ann"))
    assert (kept.answers, kept.rejected, kept.author) == (["film/3", "film/1"], [], person("ann"))
    for name in ("ann", "bea", "cem"):
        judge(queue.items.get(position=3), person(name), 0)
    again = keep_correction(queue, corrected_questions(read_grades(queue))["third"], person("bea"))
    assert (again.pk, again.answers, again.rejected) == (kept.pk, ["film/3"], ["film/1"])


def test_a_question_without_an_answer_is_no_training_example(films: KnowledgeBase) -> None:
    queue = judged_queue(films, [("first", "film/1", (0, 0, 0))])
    question = corrected_questions(read_grades(queue))["first"]
    assert not question.corrects
    with pytest.raises(InvalidRequest, match="No node is called an answer to this question"):
        keep_correction(queue, question, None)


def test_what_reports_are_measured_on_is_not_learned_from(films: KnowledgeBase) -> None:
    plain = [Example(name, f"question {name}", ("film/1",), split) for name, split in
             (("a", "train"), ("b", "val"), ("c", "test"), ("d", "val"))]  # fmt: skip
    asked, _ = register_questions(knowledge_base="films", examples=plain, name="asked")
    with pytest.raises(BadQuestions, match=r"films has no correction to learn from\. A button beside a judged item"):
        lessons("films", asked)
    corrected(films, *(replace(one, answers=("film/2",)) for one in plain[:3]), Example("n", "new", ("film/3",)))
    found = lessons("films", asked)
    assert [one.text for one in found.corrections] == ["question a", "new"]
    assert [(one.text, one.answers, one.split) for one in found.examples] == [
        ("question a", ("film/2",), "train"), ("new", ("film/3",), "train"),
    ]  # fmt: skip
    assert [one.id for one in found.others] == ["b", "c", "d"]
    assert [said.split("” is in ")[1] for said in found.left_out] == [
        "the split val, which reports are measured on.", "the split test, which reports are measured on.",
    ]  # fmt: skip
    allowed = lessons("films", asked, allow_val=True)
    assert [(one.text, one.split) for one in allowed.corrections] == [
        ("question a", "train"), ("question b", "val"), ("new", "train"),
    ]  # fmt: skip


def test_learning_from_corrections_shows_what_it_changed(makers_base: KnowledgeBase) -> None:
    """The planner cannot know what `zork` means before it is taught; the corrections are new questions of the kind."""
    plain = [replace(one, split="train") for one in TAUGHT] + [replace(one, split="val") for one in UNSEEN[4:]]
    asked, _ = register_questions(knowledge_base="makers", examples=plain, name="asked")
    corrected(makers_base, *UNSEEN[:4])
    job = LearnCorrectionsJob(settings=makers.QUICK, others=8)
    target = JobTarget("makers", "", f"asked@{asked.version}")
    assert job.refuse(target) == []
    report = learn_corrections(
        knowledge_base="makers", learner="planner", question_set=asked, settings=makers.QUICK, others=8
    )
    evaluation = Evaluation.objects.get(pk=report["evaluation"])
    changes = rank_changes(evaluation.pk)
    assert [normalised(one.question) for one in changes] == [normalised(one.text) for one in UNSEEN[:4]]
    told = learned_of(evaluation)
    assert told is not None
    assert told["better"] == sum(one.gain > 0 for one in changes) >= 1
    assert told["worse"] == 0
    assert all(one.after == 1 for one in changes)
    said = f"Of 4 corrected questions, {told['better']} found the first answer higher than before"
    assert report["what_changed"].startswith(said)
    assert "On 8 other questions MRR changes by +" in report["what_changed"]
    assert Evaluation.objects.get(pk=told["others"]).report is not None
    made = PipelineVersion.objects.get(knowledge_base=makers_base, version=report["pipeline_version"])
    assert not made.active


def test_a_launch_says_what_is_wrong_with_it(films: KnowledgeBase) -> None:
    faults = LearnCorrectionsJob(learner="oracle").refuse(JobTarget("films", "", ""))
    assert [fault.pointer for fault in faults] == ["/arguments/learner", "/question_set"]
