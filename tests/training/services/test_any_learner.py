"""A learner is a row of the settings: whatever runs trainings knows none of them, and stops each when asked."""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from search.domain.options import option
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, PipelineVersion
from search.services.jobs.checkpoints import FileCheckpoints
from tests.search import small
from tests.training import makers, toy
from training.data.examples import BadQuestions, Example
from training.services.train import train


@dataclass(frozen=True)
class Find(small.Find):
    """Text retrieval with an option that names what was learned for it."""

    artifact: str = option("", "What was learned.")


EXAMPLES = [Example(f"q{at}", f"question {at}", ("film/1",), "train") for at in range(4)]
TRAINING = Path(__file__).resolve().parents[3] / "training"


@pytest.fixture
def taught(films: KnowledgeBase, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """The films, and a learner that is named in the settings and nowhere else."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_LEARNERS = {
        "toy": {"BACKEND": "tests.training.toy.ToyLearner", "PIPELINE": "text", "OPTION": "retrieve.artifact"}
    }
    stages = {**small.PIPELINES["text"]["STAGES"], "retrieve": {"BACKEND": f"{__name__}.Find"}}
    settings.GRASP_PIPELINES = {"text": {**small.PIPELINES["text"], "STAGES": stages}}
    return films


def trained(**more: Any) -> dict[str, Any]:
    return train(**{"kind": "toy", "knowledge_base": "films", "examples": EXAMPLES, "settings": {},
                    "unproven": True} | more)  # fmt: skip


def test_a_learner_of_the_settings_is_trained_registered_and_promoted(taught: KnowledgeBase) -> None:
    told: list[Any] = []
    run = RunContext(progress=lambda *args: told.append(args), metric=lambda *args: told.append(args))
    report = trained(run=run)
    assert (report["kind"], report["metrics"], report["table"]) == ("toy", {"mean": 10.0}, {"toy": {"mean": 7.0}})
    artifact = Artifact.objects.get()
    assert (artifact.kind, artifact.configuration["steps"]) == ("toy", 3)
    assert (artifact.directory / "toy.txt").read_bytes() == b"toy"
    card = (artifact.directory / "README.md").read_text()
    assert card.startswith("# Toy\n\nIt learns lengths.\n\nIt is no good for anything.")
    assert "4 questions of a list of questions (4 train), over films-1." in card
    assert "| toy | 7.00 |" in card
    version = PipelineVersion.objects.get(active=True)
    assert (version.pipeline, version.options) == ("text", {"retrieve.artifact": artifact.id})
    assert told == [event for at in range(3) for event in (("lengths", at + 1, 3), ("step", at, float(at)))]


def test_the_command_trains_it_and_shows_its_own_table(taught: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text('{"id": "a", "text": "who", "answers": ["film/1"]}\n{"id": "b", "text": "what", "answers": '
                    '["film/2"]}\n')  # fmt: skip
    out = StringIO()
    call_command("train", "toy", "films", "--questions", str(path), "--set", "steps=1", "--unproven", "--json",
                 stdout=out)  # fmt: skip
    assert '"table": {"toy": {"mean": 7.0}}' in out.getvalue()
    with pytest.raises(BadQuestions, match="It takes 9 questions"):
        trained(settings={"least": 9})


def test_a_training_that_is_cancelled_ends_at_once_and_writes_nothing(taught: KnowledgeBase, tmp_path: Path) -> None:
    asked: list[float] = []

    def ask(step: int) -> None:
        if step == 250:
            asked.append(time.process_time())

    toy.WATCHED.append(ask)
    kept = FileCheckpoints(tmp_path / "kept")
    run = RunContext(Limit(cancelled=lambda: bool(asked)), checkpoints=kept)
    try:
        with pytest.raises(RunCancelled, match=r"The job was cancelled\."):
            trained(settings={"steps": 1_000_000}, run=run)
        assert time.process_time() - asked[0] < 1
    finally:
        toy.WATCHED.clear()
    assert not Artifact.objects.exists()
    assert not PipelineVersion.objects.exists()
    assert not (tmp_path / "home" / "artifacts").exists()
    steps: list[int] = []
    resumed = RunContext(progress=lambda part, done, total: steps.append(done), checkpoints=kept)
    trained(settings={"steps": 300}, run=resumed)
    assert steps[0] == 202


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["plans", "learning"])
def test_the_planners_training_ends_within_a_second_wherever_it_is(makers_base: KnowledgeBase, part: str) -> None:
    asked: list[float] = []

    def tell(name: str, done: int, total: int) -> None:
        if name == part and not asked:
            asked.append(time.process_time())

    run = RunContext(Limit(cancelled=lambda: bool(asked)), progress=tell)
    with pytest.raises(RunCancelled):
        train(kind="planner", knowledge_base="makers", examples=makers.questions(end=makers.TAUGHT),
              settings=makers.QUICK, run=run, unproven=True)  # fmt: skip
    assert time.process_time() - asked[0] < 1
    assert not Artifact.objects.exists()
    assert not PipelineVersion.objects.exists()


def test_a_checkpoint_that_is_cut_short_leaves_the_former_one(tmp_path: Path) -> None:
    kept = FileCheckpoints(tmp_path)
    assert kept.load("a") is None
    kept.save("a", b"one")
    (tmp_path / ".a.new").write_bytes(b"tw")
    assert kept.load("a") == b"one"
    kept.save("a", b"two")
    assert kept.load("a") == b"two"


def test_what_runs_trainings_names_no_learner() -> None:
    for path in [*(TRAINING / "services").glob("*.py"), *(TRAINING / "management").rglob("*.py"),
                 TRAINING / "wiring.py", TRAINING / "learning" / "task.py"]:  # fmt: skip
        source = path.read_text()
        imported = {
            alias if isinstance(node, ast.Import) else f"{node.module}.{alias}"
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in [one.name for one in node.names]
        }
        assert not {name for name in imported if "stages.plan" in name or "learning.plan" in name}, path
