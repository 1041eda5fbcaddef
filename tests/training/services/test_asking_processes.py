"""Several processes ask the questions of one evaluation; any of them may be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from django.conf import settings as site_settings
from django.db.models import Count
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.errors import StageError
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import SearchRun, VectorSet
from search.services.knowledge.import_snapshot import import_snapshot
from tests import hash_site
from tests.training import makers
from training.data.examples import Example
from training.models import Evaluation, Outcome
from training.services.evaluate import evaluate, resume_evaluation
from training.services.evaluations import processes
from training.services.evaluations.processes import ProcessEnded, processes_for

pytestmark = pytest.mark.django_db(transaction=True)
DEADLINE_SECONDS = 300.0
MANY = 150


@pytest.fixture
def environment(web_environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process whose vectors mean nothing."""
    return {**web_environment, "DJANGO_SETTINGS_MODULE": hash_site.__name__}


@pytest.fixture
def base(
    environment: dict[str, str], tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The makers with vectors that mean nothing, here and in the processes of an evaluation."""
    settings.GRASP_TOOLS = hash_site.GRASP_TOOLS
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", environment["DJANGO_SETTINGS_MODULE"])
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=makers.bundle(tmp_path / "bundle"))
    yield "makers"
    wiring.forget()
    wiring.encoder.cache_clear()


def many() -> list[Example]:
    """Return questions that differ in their number, so that each of them is asked for itself."""
    known = makers.questions()
    return [
        Example(f"q{at}", f"{known[at % len(known)].text} {at}", known[at % len(known)].answers) for at in range(MANY)
    ]


def askers() -> list[psutil.Process]:
    """Return the processes that ask for this one; one that was killed may still be in the list of children."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_two_processes_give_the_same_run_as_one(base: str, tmp_path: Path) -> None:
    reports = [
        evaluate(
            knowledge_base=base, examples=makers.questions(), split=None, pipelines=["grasp", "bm25"], settings={},
            output=tmp_path / str(number), processes=number,
        )
        for number in (1, 2)
    ]  # fmt: skip
    assert [report["asked_at_once"] for report in reports] == [1, 2]
    for name in ("grasp.run", "bm25.run", "qrels"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert reports[0]["comparisons"] == reports[1]["comparisons"]
    assert [part["repeated"]["differ"] for report in reports for part in report["pipelines"].values()] == [[]] * 4


def test_a_killed_evaluation_leaves_no_process_and_goes_on_where_it_was(
    base: str, environment: dict[str, str], tmp_path: Path
) -> None:
    questions = tmp_path / "many.jsonl"
    rows = [{"id": one.id, "text": one.text, "answers": list(one.answers)} for one in many()]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "manage.py", "evaluate", base, "--questions", str(questions), "--pipeline", "bm25"]
    running = subprocess.Popen(
        [*command, "--processes", "2", "--output", str(tmp_path / "killed")], cwd=site_settings.BASE_DIR,
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not Outcome.objects.exists():
        assert running.poll() is None, "the evaluation ended before it was killed"
        assert time.monotonic() < deadline, "no outcome was stored"
        time.sleep(0.02)
    children = psutil.Process(running.pid).children(recursive=True)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not psutil.wait_procs(children, timeout=30)[1], "a process of the killed evaluation is still there"
    evaluation = Evaluation.objects.get()
    before = set(Outcome.objects.values_list("run", flat=True))
    assert evaluation.status == "running"
    assert 0 < len(before) < MANY
    resume_evaluation(evaluation.pk, output=tmp_path / "resumed", processes=1)
    evaluation.refresh_from_db()
    assert evaluation.status == "done"
    assert Outcome.objects.count() == SearchRun.objects.filter(evaluation=evaluation.pk).count() == MANY
    assert before < set(Outcome.objects.values_list("run", flat=True))
    assert not Outcome.objects.values("question").annotate(n=Count("pk")).filter(n__gt=1).exists()
    whole = evaluate(
        knowledge_base=base, examples=many(), split=None, pipelines=["bm25"], settings={}, output=tmp_path / "whole",
    )  # fmt: skip
    assert (tmp_path / "resumed" / "bm25.run").read_bytes() == (tmp_path / "whole" / "bm25.run").read_bytes()
    assert UUID(whole["evaluation"]) != evaluation.pk


def test_a_process_that_is_killed_ends_the_evaluation_with_a_sentence(base: str) -> None:
    def kill(part: str, done: int, total: int | None) -> None:
        if done:
            for child in askers():
                child.kill()

    with pytest.raises(ProcessEnded, match="ended from outside, perhaps because memory was short"):
        evaluate(
            knowledge_base=base, examples=many(), split=None, pipelines=["bm25"], settings={}, processes=2,
            run=RunContext(progress=kill),
        )  # fmt: skip
    evaluation = Evaluation.objects.get()
    assert (evaluation.status, evaluation.report) == ("failed", None)
    assert "resume the evaluation" in evaluation.reason


def test_a_cancelled_evaluation_ends_its_processes_at_once(base: str) -> None:
    asked: list[int] = []
    with pytest.raises(RunCancelled):
        evaluate(
            knowledge_base=base, examples=many(), split=None, pipelines=["bm25"], settings={}, processes=2,
            run=RunContext(
                limit=Limit(cancelled=lambda: bool(asked)),
                progress=lambda part, done, total: asked.append(done) if done else None,
            ),
        )  # fmt: skip
    assert not askers()
    assert Evaluation.objects.get().status == "cancelled"


def test_a_pipeline_that_cannot_be_composed_is_refused_before_the_first_question(base: str) -> None:
    VectorSet.objects.update(encoder="nobody@1")
    with pytest.raises(StageError, match="nobody"):
        evaluate(
            knowledge_base=base, examples=makers.questions(), split=None, pipelines=["grasp"], settings={}, processes=2
        )  # fmt: skip
    assert not Outcome.objects.exists()


def test_few_questions_start_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 9000000 kB\nMemAvailable: 3100000 kB\n")
    monkeypatch.setattr(processes, "_MEMORY_INFO", memory)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    assert processes_for(10) == 1
    assert processes_for(1_000) == 2
    assert processes_for(1_000, wanted=3) == 3
    memory.write_text("MemAvailable: 100000 kB\n")
    assert processes_for(1_000) == 1
