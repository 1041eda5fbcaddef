"""Synthesised questions as files, as question sets, and as what a learner learns from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.domain.errors import InvalidRequest
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, PipelineVersion
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles
from tests.training import makers
from training.data.examples import BadQuestions, read_all
from training.data.hashes import data_hash, question_hash
from training.models import QuestionSet
from training.services.question_sets import examples_of, register_questions
from training.services.synthesise import write_questions
from training.services.train import train

pytestmark = pytest.mark.django_db
TAUGHT = makers.questions(end=makers.TAUGHT)
LITTLE = {"steps": 1, "seed": 4}


def trained(**changed: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": "planner", "knowledge_base": "makers", "examples": [], "settings": LITTLE,
                             "synthesised": 30, "unproven": True}  # fmt: skip
    return train(**{**given, **changed})


@pytest.mark.parametrize("name", ["made.jsonl", "made.jsonl.gz"])
def test_a_file_of_questions_is_read_back_and_a_seed_gives_the_same_bytes(
    makers_base: KnowledgeBase, tmp_path: Path, name: str
) -> None:
    report = write_questions(knowledge_base="makers", path=tmp_path / name, number=50, seed=3)
    first = (tmp_path / name).read_bytes()
    examples = read_all(tmp_path / name)
    assert (len(examples), report["questions"], report["seed"], report["release"]) == (50, 50, 3, "makers-1")
    assert sum(report["kinds"].values()) == 50
    assert {example.slices["kind"] for example in examples} == set(report["kinds"])
    write_questions(knowledge_base="makers", path=tmp_path / name, number=50, seed=3)
    assert (tmp_path / name).read_bytes() == first
    write_questions(knowledge_base="makers", path=tmp_path / name, number=50, seed=4)
    assert (tmp_path / name).read_bytes() != first


def test_a_file_is_there_only_once_it_is_whole(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_text("before")
    with pytest.raises(RunCancelled):
        write_questions(knowledge_base="makers", path=path, run=RunContext(limit=Limit(cancelled=lambda: True)))
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir() if "made" in file.name] == ["made.jsonl"]


def test_a_base_that_gives_no_question_says_what_it_takes(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    nodes = [{"id": "a", "type": "thing", "name": "Only", "fields": {}}]
    import_snapshot(source=bundles.write(tmp_path / "bare", nodes, [], name="bare", node_types={"thing": {}}))
    with pytest.raises(BadQuestions, match="No question can be made of bare-1: it takes nodes"):
        write_questions(knowledge_base="bare", path=tmp_path / "out.jsonl")
    with pytest.raises(BadQuestions, match="No question can be made of bare-1"):
        trained(knowledge_base="bare")
    assert not (tmp_path / "out.jsonl").exists()
    assert not Artifact.objects.exists()


def test_a_job_keeps_them_as_a_question_set_once(makers_base: KnowledgeBase) -> None:
    for new in (True, False):
        job, _ = launch_job(kind="synthesise", knowledge_base="makers", arguments={"number": 40}, here=True)
        report = run_here(job)
        assert (report["question_set"], report["new"], report["questions"]) == ("synthesised@1", new, 40)
    assert len(examples_of(QuestionSet.objects.get())) == 40


def test_a_planner_is_trained_on_synthesised_questions_alone_and_says_so(makers_base: KnowledgeBase) -> None:
    report = trained()
    made = report["synthesised"]
    assert (report["questions"], made["number"], made["seed"]) == (0, 30, 4)
    artifact = Artifact.objects.get()
    assert artifact.configuration["synthesised"] == made
    assert artifact.configuration["splits"] == {}
    kept = json.loads((artifact.directory / "questions.json").read_bytes())
    assert (len(kept["hashes"]), kept["synthesised"]) == (30, made)
    card = (artifact.directory / "README.md").read_text()
    assert "No question that people asked, over makers-1." in card
    assert "30 questions made of the knowledge base alone, with the seed 4: " in card
    assert PipelineVersion.objects.get().note.endswith("from 30 synthesised questions.")


def test_beside_real_questions_they_are_learned_from_and_never_measured_on(makers_base: KnowledgeBase) -> None:
    report = trained(examples=TAUGHT)
    assert report["metrics"]["questions"] == len(TAUGHT)
    artifact = Artifact.objects.get()
    hashes = json.loads((artifact.directory / "questions.json").read_bytes())["hashes"]
    assert {question_hash(example) for example in TAUGHT} < set(hashes)
    folds = json.loads((artifact.directory / "folds.json").read_bytes())["hashes"]
    assert set(folds) == {question_hash(example) for example in TAUGHT}
    assert set(folds.values()) == {0, 1, 2}
    assert artifact.data_hash != data_hash(TAUGHT)
    note = f"from {len(TAUGHT)} questions and 30 synthesised questions."
    assert PipelineVersion.objects.get().note.endswith(note)


def test_without_synthesised_questions_nothing_is_said_of_them(makers_base: KnowledgeBase) -> None:
    report = trained(examples=TAUGHT, synthesised=0)
    artifact = Artifact.objects.get()
    assert (report["synthesised"], artifact.data_hash) == (None, data_hash(TAUGHT))
    assert "knowledge base alone" not in (artifact.directory / "README.md").read_text()


def test_a_training_job_takes_a_question_set_or_a_number_or_both(makers_base: KnowledgeBase) -> None:
    with pytest.raises(InvalidRequest) as error:
        launch_job(kind="train_planner", knowledge_base="makers", arguments={})
    (fault,) = error.value.faults
    assert fault.pointer == "/question_set"
    assert "or say how many questions are to be synthesised" in fault.message
    job, _ = launch_job(
        kind="train_planner",
        knowledge_base="makers",
        arguments={"synthesised": 30, "settings": LITTLE, "activate": False},
        here=True,
    )
    assert run_here(job)["synthesised"]["number"] == 30
    register_questions(knowledge_base="makers", examples=TAUGHT, name="asked")
    both, _ = launch_job(
        kind="train_planner", knowledge_base="makers", question_set="asked", here=True,
        arguments={"synthesised": 20, "settings": LITTLE, "activate": False},
    )  # fmt: skip
    report = run_here(both)
    assert (report["questions"], report["synthesised"]["number"]) == (len(TAUGHT), 20)
