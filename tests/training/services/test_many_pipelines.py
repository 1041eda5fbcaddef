"""Many pipelines in one pass: one that fails loses nothing of the others, and every cost is kept."""

from __future__ import annotations

import csv
import io
import json
from copy import deepcopy
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.errors import StageError
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import KnowledgeBase
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.searches.pin import pins_from_json
from tests.search import small
from training.data.examples import Example
from training.jobs.evaluate import EvaluateJob
from training.models import Evaluation, Outcome
from training.services.evaluate import evaluate, resume_evaluation
from training.services.evaluations.build_report import build_report
from training.services.evaluations.choose_pipelines import choose_pipelines
from training.services.export_report import export_report
from training.services.question_sets import register_questions

EXAMPLES = [Example("q1", "first", ("film/1",), "val"), Example("q2", "third", ("film/3",), "val")]


@dataclass(frozen=True)
class Unreachable(small.Find):
    """A stage that cannot be built, such as one whose encoder is not there."""

    def __post_init__(self) -> None:
        raise StageError("retrieve", "this site has no encoder tiny", permanent=True)


class Mistaken(small.Find):
    """A stage with a mistake."""

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        raise KeyError("nowhere")


def pipelines() -> dict[str, dict[str, Any]]:
    found = dict(small.PIPELINES)
    for name, stage in (("away", "Unreachable"), ("wrong", "Mistaken"), ("gone", "Nothing")):
        found[name] = deepcopy(small.PIPELINES["text"]) | {"TITLE": name.title()}
        found[name]["STAGES"]["retrieve"] = {"BACKEND": f"{__name__}.{stage}"}
    return found


@pytest.fixture
def five(films: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """The films with five pipelines: `away` cannot be built, `wrong` fails, and `gone` names a stage that is none."""
    settings.GRASP_PIPELINES = pipelines()
    wiring.forget()
    return films


def evaluated(*names: str, **more: Any) -> dict[str, Any]:
    given = {"knowledge_base": "films", "examples": EXAMPLES, "split": "val", "settings": {}, "repeated": 0} | more
    return evaluate(pipelines=names, **given)


def test_a_pipeline_that_cannot_be_built_is_left_out_with_its_reason(five: object) -> None:
    report = evaluated("text", "away", "path", partial=True)
    assert list(report["pipelines"]) == ["text", "path"]
    assert report["left_out"] == {"away": "retrieve: this site has no encoder tiny"}
    assert report["pipelines"]["text"]["metrics"]["H@1"] == 50.0
    assert Evaluation.objects.get().status == "done"


def test_alone_or_where_every_pipeline_counts_it_ends_the_evaluation(five: object) -> None:
    for names, partial in ((["away"], True), (["text", "away"], False)):
        with pytest.raises(StageError, match="no encoder tiny"):
            evaluated(*names, partial=partial)
        assert Evaluation.objects.latest("created").status == "failed"


def test_a_pipeline_with_a_mistake_has_errors_and_the_others_their_figures(five: object) -> None:
    report = evaluated("wrong", "text", partial=True)
    wrong = report["pipelines"]["wrong"]
    assert (wrong["answered"], wrong["errors"], wrong["metrics"]["MRR"]) == (0, 2, 0.0)
    assert report["pipelines"]["text"]["errors"] == 0
    error = Outcome.objects.filter(pipeline="wrong").first()
    assert error is not None
    assert error.error == "An unexpected error stopped the search: KeyError: 'nowhere'"


def test_a_pipeline_that_came_back_is_asked_when_the_evaluation_goes_on(
    five: object, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    small.HOOKS["third"] = lambda limit: asked.append(True)
    with pytest.raises(RunCancelled):
        evaluated("away", "text", partial=True, run=RunContext(limit=Limit(cancelled=lambda: bool(asked))))
    small.HOOKS.clear()
    stopped = Evaluation.objects.get()
    assert stopped.options["left_out"] == {"away": "retrieve: this site has no encoder tiny"}
    monkeypatch.setattr(Unreachable, "__post_init__", lambda self: None)
    report = resume_evaluation(stopped.pk)
    assert report["left_out"] == {}
    assert list(report["pipelines"]) == ["away", "text"]
    assert stopped.outcomes.count() == 4


def test_all_stands_for_every_pipeline_of_the_site_that_can_run(five: object) -> None:
    chosen = choose_pipelines(["all"])
    assert chosen.names == ("path", "text", "away", "wrong")
    assert list(chosen.left_out) == ["gone"]
    assert "Nothing" in chosen.left_out["gone"]
    assert choose_pipelines([]) == chosen
    assert choose_pipelines(["all", "text fuse.k=5", "path"]).names == (*chosen.names, "text fuse.k=5")
    assert choose_pipelines(["text", "gone"]).names == ("text", "gone")
    assert choose_pipelines(["gone", "all"]).left_out == {}


def test_the_job_takes_the_same_names(five: object) -> None:
    every = ["path", "text", "away", "wrong"]
    again = [f"{name}, asked again" for name in every]
    assert list(EvaluateJob(pipelines=("all",)).parts()) == [*every, *again]
    assert list(EvaluateJob().parts()) == [*every, *again]
    assert list(EvaluateJob(pipelines=("all", "grasp fuse.k=5"), repeated=0).parts()) == [*every, "grasp fuse.k=5"]
    register_questions(knowledge_base="films", examples=EXAMPLES, name="asked")
    job, _ = launch_job(
        kind="evaluate", knowledge_base="films", question_set="asked", arguments={"pipelines": ["all"]}, here=True
    )
    report = run_here(job)
    assert sorted(report["pipelines"]) == ["path", "text", "wrong"]
    assert sorted(report["left_out"]) == ["away", "gone"]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = [{"id": one.id, "text": one.text, "answers": list(one.answers)} for one in EXAMPLES]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_command_asks_all_of_them_and_says_what_it_left_out(five: object, questions: Path, tmp_path: Path) -> None:
    out, err = StringIO(), StringIO()
    call_command("evaluate", "films", "--questions", str(questions), "--pipeline", "all", "--json",
                 "--output", str(tmp_path / "out"), stdout=out, stderr=err)  # fmt: skip
    report = json.loads(out.getvalue())
    assert sorted(report["pipelines"]) == ["path", "text", "wrong"]
    assert sorted(report["left_out"]) == ["away", "gone"]
    assert "away was left out. retrieve: this site has no encoder tiny" in err.getvalue()
    assert (tmp_path / "out" / "text.run").exists()


SPENT = {
    "calls": 2, "cached_calls": 1, "refused": 0, "tokens": {"prompt": 800, "cached": 300, "completion": 40},
    "seconds": 0.5, "price": 0.002, "currency": "EUR", "budget": {},
}  # fmt: skip


def test_costs_stand_in_the_report_and_in_every_file(films: KnowledgeBase) -> None:
    report = evaluated("text", "path")
    assert report["pipelines"]["text"]["a_question"]["calls"] == 0.0
    evaluation = Evaluation.objects.get(pk=report["evaluation"])
    evaluation.outcomes.filter(pipeline="path").update(model_use=SPENT)
    again = rebuilt(evaluation)
    cost = again["pipelines"]["path"]["a_question"]
    assert (cost["calls"], cost["tokens"], cost["price"], cost["currency"]) == (
        2.0, {"prompt": 800.0, "cached": 300.0, "completion": 40.0}, 0.002, "EUR",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO("".join(export_report(evaluation, "csv").content))))
    first = {row["pipeline"]: row for row in rows if row["question"] == "q1"}
    names = ("model_calls", "cached_model_calls", "prompt_tokens", "cached_tokens", "completion_tokens", "price")
    assert [first["path"][name] for name in names] == ["2", "1", "800", "300", "40", "0.002"]
    assert [first["text"][name] for name in names] == ["0", "0", "0", "0", "0", ""]
    table = "".join(export_report(evaluation, "latex").content)
    assert "& Calls & Tokens & s & Price" in table
    assert "& 2.0 & 840 &" in table
    assert "0.00200 EUR" in table


def rebuilt(evaluation: Evaluation) -> dict[str, Any]:
    assert evaluation.release is not None
    report = build_report(evaluation, pins_from_json(evaluation.specifications, evaluation.release, evaluation.pk))
    evaluation.report = report
    evaluation.save(update_fields=["report"])
    return report
