"""An evaluation stores each outcome once, goes on after it stopped, and shows what it found question by question."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from search.domain.errors import InvalidRequest, StageError
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import KnowledgeBase, Release, SearchRun, SearchStep
from search.models.knowledge import BuildStatus
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.searches.pin_searches import pin_searches
from tests.search import small
from training.data.examples import Example
from training.models import Evaluation, Outcome
from training.services import evaluate as service
from training.services.evaluate import evaluate, resume_evaluation
from training.services.evaluations.choose_pins import search_pinned
from training.services.evaluations.compare import compare_evaluations
from training.services.evaluations.describe import describe_evaluation, list_evaluations
from training.services.evaluations.outcomes import OutcomeFilters, describe_outcome, outcomes
from training.services.export_report import export_report, latex

# The text pipeline finds film/1, film/2, film/3 in this order; the path pipeline finds the same three.
EXAMPLES = [
    Example("q1", "first", ("film/1",), "val", {"hops": "1"}),
    Example("q2", "third", ("film/3",), "val", {"hops": "2"}),
    Example("q3", "=nowhere & 100%", ("person/1",), "val", {"hops": "2"}),
    Example("q4", "unknown", ("film/9", "film/2"), "val", {"hops": "1"}),
]


def evaluated(*pipelines: str, examples: list[Example] = EXAMPLES, **options: Any) -> Evaluation:
    """Evaluate these pipelines on the films, and return the row."""
    options = {"split": "val", "settings": {}, **options}
    report = evaluate(knowledge_base="films", examples=examples, pipelines=pipelines or ("text",), **options)
    return Evaluation.objects.get(pk=report["evaluation"])


def stop_at(text: str) -> Callable[[], bool]:
    """Return a callable that says that the run is cancelled once a question with this text was asked."""
    asked: list[bool] = []
    small.HOOKS[text] = lambda limit: asked.append(True)
    return lambda: bool(asked)


def sentences(error: InvalidRequest) -> list[str]:
    return [fault.message for fault in error.faults]


def test_each_question_has_one_outcome_and_one_search_with_each_pipeline(films: KnowledgeBase) -> None:
    evaluation = evaluated("text", "path")
    assert Outcome.objects.count() == SearchRun.objects.count() == 8
    found = Outcome.objects.get(evaluation=evaluation, pipeline="text", question__identifier="q2")
    assert (found.rank, found.ids, found.state) == (3, ["film/1", "film/2", "film/3"], "answered")
    assert found.measures == {
        "H@1": 0.0, "H@5": 100.0, "R@20": 100.0, "MRR": pytest.approx(100 / 3), "R-precision": 0.0,
    }  # fmt: skip
    run = SearchRun.objects.get(pk=found.run)
    assert (run.status, run.origin, run.purpose, run.evaluation) == ("done", "evaluation", "q2", evaluation.pk)
    assert run.seconds == found.seconds
    assert [step.role for step in run.steps.all()] == ["text list", "explain"]
    # Half of the answers of q4 are known, and they are found.
    assert Outcome.objects.get(pipeline="text", question__identifier="q4").measures["R@20"] == 50.0
    asked = evaluation.asked.get(identifier="q4")
    assert (asked.unknown, asked.answer_type) == (["film/9"], "film")
    assert evaluation.report is not None
    assert evaluation.report["unknown_answers"] == {"answers": 1, "first": ["film/9"]}


def test_a_stored_search_is_the_same_as_one_that_was_requested(films: KnowledgeBase) -> None:
    """Every column but those of identity and time."""
    evaluated("path", examples=EXAMPLES[:1], repeated=0)
    stored = SearchRun.objects.get()
    pins = pin_searches(knowledge_base="films", pipelines=["path"], settings={}, evaluation=stored.evaluation)
    plain = search_pinned(pins["path"], EXAMPLES[0])
    own = {"id", "created", "started", "finished", "seconds", "changes"}
    same = [field.attname for field in SearchRun._meta.concrete_fields if field.attname not in own]
    read = SearchRun.objects.values(*same)
    assert read.get(pk=stored.pk) == read.get(pk=plain.pk)
    steps = [
        list(SearchStep.objects.filter(run=run).values_list("position", "name", "role", "version", "status", "output"))
        for run in (stored, plain)
    ]
    assert steps[0] == steps[1]
    assert len(steps[0]) == 9


def test_an_evaluation_that_was_stopped_goes_on_and_asks_nothing_twice(
    films: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "A_BATCH", 1)
    undisturbed = evaluated("text", "path", output=tmp_path / "whole")
    run = RunContext(limit=Limit(cancelled=stop_at("third")))
    with pytest.raises(RunCancelled):
        evaluated("text", "path", run=run)
    stopped = Evaluation.objects.exclude(pk=undisturbed.pk).get()
    assert (stopped.status, stopped.report) == ("cancelled", None)
    assert list(stopped.outcomes.values_list("question__identifier", flat=True)) == ["q1"]
    assert describe_evaluation(stopped)["answered"] == {"text": 1, "path": 0}
    small.HOOKS.clear()
    done = list(SearchRun.objects.values_list("pk", flat=True))
    # The run remembers which evaluation it has begun, so the same call goes on with it.
    report = evaluate(
        knowledge_base="films", examples=EXAMPLES, split="val", pipelines=["text", "path"], settings={},
        output=tmp_path / "parts", run=RunContext(notes=run.notes),
    )  # fmt: skip
    assert report["evaluation"] == str(stopped.pk)
    assert SearchRun.objects.exclude(pk__in=done).count() == 7
    assert stopped.outcomes.count() == 8
    for name in ("text.run", "path.run", "qrels"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    parts = report["pipelines"]
    assert undisturbed.report is not None
    for name in ("metrics", "intervals", "slices", "run_hash", "answered"):
        assert parts["text"][name] == undisturbed.report["pipelines"]["text"][name]
    assert report["comparisons"] == undisturbed.report["comparisons"]


def test_an_evaluation_that_is_done_is_not_asked_again(films: KnowledgeBase, tmp_path: Path) -> None:
    evaluation = evaluated()
    count = SearchRun.objects.count()
    assert resume_evaluation(evaluation.pk, output=tmp_path) == evaluation.report
    assert SearchRun.objects.count() == count
    assert (tmp_path / "text.run").exists()


def test_versions_and_options_of_one_pipeline_are_compared_in_one_pass(films: KnowledgeBase) -> None:
    save_pipeline_version(knowledge_base=films, pipeline="text", options={"retrieve.depth": 1})
    evaluation = evaluated("text", "text@0", "text@0 retrieve.depth=2")
    report = describe_evaluation(evaluation)["report"]
    assert list(report["pipelines"]) == ["text", "text@0", "text@0 retrieve.depth=2"]
    depths = [part["specification"]["stages"]["retrieve"]["OPTIONS"]["depth"] for part in report["pipelines"].values()]
    assert depths == [1, 50, 2]
    assert [part["version"] for part in report["pipelines"].values()] == [1, 0, 0]
    # Only the site's own depth reaches film/3, the answer of q2, and film/2, one of the two of q4.
    assert [part["metrics"]["R@20"] for part in report["pipelines"].values()] == [25.0, 62.5, 37.5]


def test_the_report_asks_a_sample_again_and_says_what_differs(films: KnowledgeBase) -> None:
    def later(limit: Limit) -> None:
        small.SCORES["third"] = 0.1  # film/1 falls to the last place from the third search on.

    asked: list[bool] = []
    small.HOOKS["third"] = lambda limit: asked.append(True) or (later(limit) if len(asked) > 1 else None)  # type: ignore[func-returns-value]
    repeated = evaluated().report["pipelines"]["text"]["repeated"]  # type: ignore[index]
    assert (repeated["questions"], repeated["same"], repeated["differ"]) == (4, 3, ["q2"])
    assert evaluated(repeated=0).report["pipelines"]["text"]["repeated"]["questions"] == 0  # type: ignore[index]


def test_slices_are_by_the_keys_of_questions_by_answer_type_and_by_plan_shape(films: KnowledgeBase) -> None:
    slices = evaluated("path").report["pipelines"]["path"]["slices"]  # type: ignore[index]
    assert {key: {value: one["questions"] for value, one in of.items()} for key, of in slices.items()} == {
        "hops": {"1": 2, "2": 2}, "answer_type": {"film": 3, "person": 1}, "plan_shape": {"1 hop, 1 anchor": 4},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"examples": []}, ["There is no question to ask."]),
        ({"pipelines": []}, ["Name at least one pipeline."]),
        ({"pipelines": ["txt"]}, ["There is no pipeline 'txt'. There are: path, text."]),
        ({"pipelines": ["text@7"]}, ["text has no such version for films; it has: 0."]),
        ({"pipelines": ["text@two"]}, ["text has no such version for films; it has: 0."]),
        ({"pipelines": ["text", "text"]}, ["'text' is given twice."]),
        ({"release": "films-9"}, ["films has no release 'films-9'; it has: films-1."]),
        (
            {"examples": [Example("q", "who?", ("a", "b"))]},
            [
                "No answer of these 1 questions is a node of films-1, such as 'a', 'b'. Are they about another "
                "knowledge base?"
            ],
        ),
        (
            {"examples": [], "pipelines": ["txt", "text@3"]},
            [
                "There is no question to ask.", "There is no pipeline 'txt'. There are: path, text.",
                "text has no such version for films; it has: 0.",
            ],
        ),
    ],
)  # fmt: skip
def test_every_fault_is_told_at_once_and_nothing_is_written(
    films: KnowledgeBase, changes: dict[str, Any], said: list[str]
) -> None:
    given = {"examples": EXAMPLES, "pipelines": ["text"], "split": None, "settings": {}} | changes
    with pytest.raises(InvalidRequest) as refused:
        evaluate(knowledge_base="films", **given)
    assert sentences(refused.value) == said
    assert not Evaluation.objects.exists()


def test_a_release_that_is_dropped_ends_the_evaluation_and_it_cannot_go_on(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "A_BATCH", 1)
    small.HOOKS["third"] = lambda limit: Release.objects.update(status=BuildStatus.DROPPED) and None
    with pytest.raises(StageError, match=r"films-1 has been dropped"):
        evaluated()
    evaluation = Evaluation.objects.get()
    assert evaluation.status == "failed"
    assert evaluation.outcomes.count() == 1
    with pytest.raises(InvalidRequest) as refused:
        resume_evaluation(evaluation.pk)
    assert "films-1 has been dropped" in sentences(refused.value)[0]
    with pytest.raises(InvalidRequest) as refused:
        evaluated(release="films-1")
    assert sentences(refused.value) == ["The release films-1 is dropped, so it cannot be searched."]
    with pytest.raises(InvalidRequest, match="There is no evaluation"):
        resume_evaluation(uuid4())


def test_outcomes_are_filtered_and_sorted(films: KnowledgeBase) -> None:
    evaluation = evaluated("text", "path")

    def shown(**given: str) -> list[str]:
        filters = OutcomeFilters.parse({"pipeline": "text"} | given, evaluation)
        return [one.question.identifier for one in outcomes(evaluation, filters)]

    assert shown() == ["q1", "q2", "q3", "q4"]
    assert shown(sort="-rank") == ["q3", "q2", "q4", "q1"]
    assert shown(found="none") == ["q3"]
    assert shown(found="not first") == ["q2", "q4"]
    assert shown(answer_type="person") == ["q3"]
    assert shown(question="THIRD") == ["q2"]
    assert shown(**{"slice.hops": "2"}) == ["q2", "q3"]
    assert shown(**{"slice.hops": "2", "found": "first"}) == []
    with pytest.raises(InvalidRequest) as refused:
        OutcomeFilters.parse({"pipeline": "grasp", "fond": "first", "sort": "size"}, evaluation)
    assert len(refused.value.faults) == 3
    first = describe_outcome(outcomes(evaluation)[0])
    assert first["found"][0] == {
        "id": "film/1",
        "score": pytest.approx(first["found"][0]["score"]),
        "answer": True,
        "grade": None,
    }


def test_two_evaluations_are_compared_question_by_question(films: KnowledgeBase) -> None:
    a = evaluated("text retrieve.depth=2")
    b = evaluated("text", examples=[*EXAMPLES[1:], Example("q5", "fifth", ("film/1",))])
    found = compare_evaluations(a, b)
    assert (found["common"], found["only_a"], found["only_b"]) == (3, 1, 1)
    assert [(one.key, one.label, one.before, one.after) for one in found["settings"]] == [
        ("retrieve.depth", "Retrieve: depth", 2, 50)
    ]
    assert [(one["id"], one["change"], one["a"]["rank"], one["b"]["rank"]) for one in found["questions"]] == [
        ("q2", "better", None, 3), ("q3", "same", None, None), ("q4", "same", 2, 2),
    ]  # fmt: skip
    by_rank = next(one for one in found["comparisons"] if one["metric"] == "MRR")
    assert (by_rank["difference"], by_rank["wins"], by_rank["ties"]) == (11.11, 1, 2)
    assert [one["id"] for one in compare_evaluations(a, b, change="better")["questions"]] == ["q2"]
    with pytest.raises(InvalidRequest) as refused:
        compare_evaluations(a, b, pipeline_a="bm25", metric="NDCG", change="other")
    assert len(refused.value.faults) == 3
    with pytest.raises(InvalidRequest, match="no answered question in common"):
        compare_evaluations(a, evaluated(examples=[Example("q5", "fifth", ("film/1",))]))


def test_lists_show_reports_and_leave_tunings_out(films: KnowledgeBase) -> None:
    evaluation = evaluated()
    Evaluation.objects.create(knowledge_base=films, purpose="tuning", release_name="films-1", code_version="x")
    assert list(list_evaluations(knowledge_base="films")) == [evaluation]
    assert not list_evaluations(knowledge_base="papers")


def exported(evaluation: Evaluation, format: str, pipeline: str = "") -> str:
    return "".join(export_report(evaluation, format, pipeline).content)


def test_downloads_are_the_files_of_the_command(films: KnowledgeBase, tmp_path: Path) -> None:
    evaluation = evaluated("text", "path", output=tmp_path)
    assert exported(evaluation, "run", "path") == (tmp_path / "path.run").read_text()
    assert exported(evaluation, "run") == (tmp_path / "text.run").read_text()
    assert exported(evaluation, "qrels") == (tmp_path / "qrels").read_text()
    stored, written = json.loads(exported(evaluation, "json")), json.loads((tmp_path / "report.json").read_text())
    assert stored == written
    assert list(stored["pipelines"]) == list(written["pipelines"]) == ["text", "path"]


def test_the_table_of_questions_holds_no_formula(films: KnowledgeBase) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(evaluated("text", "path"), "csv"))))
    assert [(row["question"], row["pipeline"]) for row in rows[:3]] == [("q1", "text"), ("q1", "path"), ("q2", "text")]
    assert (rows[2]["rank"], rows[2]["hops"], rows[2]["first_found"]) == ("3", "2", "film/1")
    assert rows[4]["text"] == "'=nowhere & 100%"
    assert rows[6]["answers"] == "film/9\nfilm/2"


def test_the_latex_table_escapes_names_and_marks_the_best(films: KnowledgeBase) -> None:
    table = exported(evaluated("text", "text retrieve.depth=1"), "latex")
    assert r"text & \textbf{25.0} {\scriptsize [0.0, 75.0]} & \textbf{75.0}" in table
    assert r"text retrieve.depth=1 & \textbf{25.0}" in table
    assert r"4 questions about films-1, split val" in table
    assert latex("50% & {a}_b ~ \\x^2 #$") == (
        r"50\% \& \{a\}\_b \textasciitilde{} \textbackslash{}x\textasciicircum{}2 \#\$"
    )


def test_an_unknown_format_or_pipeline_gets_a_sentence(films: KnowledgeBase) -> None:
    evaluation = evaluated()
    with pytest.raises(InvalidRequest) as refused:
        export_report(evaluation, "pdf", "grasp")
    assert sentences(refused.value) == [
        "format is one of: run, qrels, csv, json, latex; not 'pdf'.",
        "The evaluation has no pipeline 'grasp'; it has: text.",
    ]
    Evaluation.objects.update(report=None, status="cancelled")
    evaluation.refresh_from_db()
    with pytest.raises(InvalidRequest, match="is cancelled, so it has no report to download yet"):
        export_report(evaluation, "latex")
    assert isinstance(evaluation.pk, UUID)
