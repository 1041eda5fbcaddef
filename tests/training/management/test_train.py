"""`train`: what is refused, with every reason and nothing written; what is reported."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from search import wiring
from search.models import Artifact, Job, KnowledgeBase, PipelineVersion
from tests.search import small
from tests.training import makers

QUICK = ["--set", "steps=10", "--set", "folds=2"]


@pytest.fixture
def teachable(films: KnowledgeBase, settings: Settings, tmp_path: Path) -> Iterator[KnowledgeBase]:
    """The films, whose pipeline `path` has a planner that can be taught; there is nothing for it to read names from."""
    settings.GRASP_HOME = tmp_path / "home"
    stages = {**small.PIPELINES["path"]["STAGES"], "plan": {"BACKEND": "search.stages.plan.Planner"}}
    settings.GRASP_PIPELINES = {"path": {**small.PIPELINES["path"], "STAGES": stages}}
    none = {"BACKEND": "tests.search.small.no_tool"}
    settings.GRASP_TOOLS = {
        **small.TOOLS, "mentions": none, "encoder": {"BACKEND": "tests.fakes.HashEncoder"},
    }  # fmt: skip
    settings.GRASP_LEARNERS = {"planner": {**settings.GRASP_LEARNERS["planner"], "PIPELINE": "path"}}
    KnowledgeBase.objects.create(name="bare", title="Bare")
    wiring.forget()
    wiring.encoder.cache_clear()
    yield films
    wiring.encoder.cache_clear()


def written(folder: Path, rows: list[dict[str, Any]] | str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text(rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows(count: int, answer: str = "film/1", **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"q{at}", "text": f"what about {at}", "answers": [answer], **more} for at in range(count)]


def refused(*arguments: str) -> str:
    """Run the command, which has to end with 2 and leave nothing, and return what it said."""
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("train", *arguments, stderr=errors)
    assert ended.value.code == 2
    assert not Artifact.objects.exists()
    assert not PipelineVersion.objects.exists()
    assert not (Path(site.GRASP_HOME) / "artifacts").exists()
    return errors.getvalue()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["films", "--split", "test"], "Training on the split 'test' would make its figures worthless"),
        (["films", "--split", " Test-0.1"], "Training on the split ' Test-0.1' would make its figures"),
        (["films", "--split", "hidden"], "Training on the split 'hidden' would make its figures worthless"),
        (["films", "--split", ""], "Training on the split '' would make its figures worthless"),
        (
            ["films", "--split", "dev"],
            "only questions of the splits 'train' and 'val' may be used for learning and choosing.",
        ),
        (["films", "--split", "val"], "Training on the split 'val' needs --allow-val"),
        (["films", "--split", "train"], "has no question of split 'train'; its splits are: none."),
        (["nowhere"], "There is no knowledge base 'nowhere'."),
        (["bare"], "bare has no active release: index it, or activate one of its releases."),
        (["films", "--limit", "9"], "There are 9 questions to learn from; it takes 10 at least."),
        (["films", "--set", "steps=0"], "steps must be between 1 and 200, not 0."),
        (["films", "--set", "seed=fast"], "seed is a whole number, not 'fast'."),
        (["films", "--set", "folds"], "--set takes key=value, not 'folds'."),
        (["films", "--questions", "/nowhere.jsonl"], "/nowhere.jsonl: cannot be read"),
    ],
)
def test_bad_arguments_get_a_sentence_and_exit_2(
    teachable: KnowledgeBase, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    questions = ["--questions", str(written(tmp_path, rows(12)))]
    assert sentence in refused("planner", *(questions if "--questions" not in arguments else []), *arguments)


def test_too_few_synthesised_questions_are_refused_before_any_is_made(teachable: KnowledgeBase) -> None:
    said = refused("planner", "films", "--synthesised", "9")
    assert "There are 9 synthesised questions to learn from and no others; it takes 10." in said
    assert not Job.objects.exists()


def test_a_setting_that_there_is_not_is_refused_with_the_nearest(teachable: KnowledgeBase, tmp_path: Path) -> None:
    said = refused("planner", "films", "--questions", str(written(tmp_path, rows(12))), "--set", "step=3",
                   "--set", "tried=0")  # fmt: skip
    assert "Training a planner has no setting 'step'; it has: folds, seed, steps, tried" in said
    assert "Did you mean 'steps'?" in said
    assert "tried must be" in said


def test_questions_of_a_test_split_teach_nothing(teachable: KnowledgeBase, tmp_path: Path) -> None:
    path = written(tmp_path, rows(12, split="test"))
    assert "has no question of split 'train'; its splits are: test." in refused(
        "planner", "films", "--questions", str(path)
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"id": 1, "text": "a", "answers": ["film/1"]}\n{"id": 2,\n', "questions.jsonl:2: not JSON"),
        ("[]\n", "questions.jsonl:1: a question is an object"),
        ("", "questions.jsonl is empty."),
        ('{"id": "a", "text": "a", "answers": []}\n', "questions.jsonl:1: answers must be a list of node ids"),
    ],
)
def test_a_file_that_holds_no_questions_gets_a_sentence(
    teachable: KnowledgeBase, tmp_path: Path, content: str, sentence: str
) -> None:
    assert sentence in refused("planner", "films", "--questions", str(written(tmp_path, content)))


def test_a_file_that_was_cut_gets_a_sentence(teachable: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(rows(12)).encode())[:-9])
    assert "cannot be read" in refused("planner", "films", "--questions", str(path))


def test_every_answer_that_is_no_node_is_named_up_to_a_cap(teachable: KnowledgeBase, tmp_path: Path) -> None:
    wrong = [{**row, "answers": ["film/2", f"film/{at + 60}"]} for at, row in enumerate(rows(53))]
    said = refused("planner", "films", "--questions", str(written(tmp_path, [*wrong, {**rows(1)[0], "id": "right"}])))
    lines = said.splitlines()
    assert lines[0] == "Question 'q0': the answer 'film/60' is no node of films-1."
    assert (len(lines), lines[-1]) == (51, "… and 3 more.")


def test_what_cannot_be_trained_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'router'"):
        call_command("train", "router", "films", "--questions", "x")


def test_the_report_is_one_object_for_machines_and_a_table_for_people(
    makers_base: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taught = [{"id": e.id, "text": e.text, "answers": e.answers, "split": "train"} for e in makers.questions(end=6)]
    path = str(written(tmp_path, [*taught, *rows(3, "no node", split="test")]))
    out = StringIO()
    call_command("train", "planner", "makers", "--questions", path, *QUICK, "--unproven", "--json", stdout=out)
    report = json.loads(out.getvalue())
    assert (report["knowledge_base"], report["kind"], report["questions"]) == ("makers", "planner", 12)
    assert (report["artifact"], report["pipeline_version"], report["active"]) == (Artifact.objects.get().pk, 1, True)
    assert set(report["metrics"]) >= {"plan_accuracy", "whole", "calibration", "temperature", "reachable"}
    assert report["seconds"] > 0
    call_command("train", "planner", "makers", "--questions", path, *QUICK, "--no-activate")
    shown = capsys.readouterr().out
    assert "untrained" in shown
    assert "grasp 2 is saved, not in use." in shown
    assert PipelineVersion.objects.get(active=True).version == 1


def test_what_held_out_questions_do_not_bear_out_is_not_in_use_and_the_command_says_why(
    makers_base: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(written(tmp_path, [{"id": e.id, "text": e.text, "answers": e.answers} for e in makers.mixed(12)]))
    call_command("train", "planner", "makers", "--questions", path, "--set", "folds=3")
    shown = capsys.readouterr().out
    assert "On 24 held-out questions MRR changes by " in shown
    assert "It is not switched on, because " in shown
    assert "grasp 1 is saved, not in use." in shown
    assert not PipelineVersion.objects.filter(active=True).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["planner", "makers", "--no-activate"], "does not go with --no-activate"),
        (["all", "makers"], "does not go with train all, which judges every part"),
    ],
)
def test_using_without_a_test_is_refused_beside_its_opposite(arguments: list[str], reason: str) -> None:
    assert reason in refused(*arguments, "--questions", "x", "--unproven")


def test_a_disk_that_does_not_take_the_artifact_ends_the_command_with_1(
    makers_base: KnowledgeBase, tmp_path: Path
) -> None:
    folder = Path(site.GRASP_HOME) / "artifacts"
    folder.write_text("a file where the folder should be")
    path = written(tmp_path, [{"id": e.id, "text": e.text, "answers": e.answers} for e in makers.questions(end=6)])
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("train", "planner", "makers", "--questions", str(path), *QUICK, stderr=errors)
    assert (ended.value.code, errors.getvalue()) == (1, f"{folder}: File exists\n")
    assert not Artifact.objects.exists()
    assert not PipelineVersion.objects.exists()
