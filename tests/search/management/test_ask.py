"""`ask` and `prune_runs` from the command line: what they print, where, and with which exit code."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from search.domain.errors import StageError
from search.management import shown_search
from search.models import KnowledgeBase, SearchRun
from search.services.pipelines.document_pipelines import document_pipelines
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small

pytestmark = pytest.mark.django_db
QUESTION = "Who made Amber Road?"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "pipelines.md"


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command as the shell does, and return what it printed on stdout."""
    call_command("ask", *arguments)
    return capsys.readouterr().out


def refused(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as raised:
        call_command("ask", *arguments)
    return raised.value


def test_the_json_is_the_apis(films: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(ask(capsys, "films", QUESTION, "--json", "-k", "2"))
    assert (shown["status"], [r["node"]["id"] for r in shown["results"]]) == ("done", ["film/1", "film/2"])
    run = SearchRun.objects.get()
    assert (run.origin, run.user, str(run.pk)) == ("command", None, shown["id"])


def test_the_answer_can_be_read(films: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    text = ask(capsys, "films", QUESTION)
    for part in (
        QUESTION,
        "films-1, path: done",
        'a="Ada Holm" person; a ←directed by– T film',
        "Amber Road film film/1",
        "Two films answer this: Amber Road [1] and amber Light [2].",
        "[1] Amber Road: film; ",
        "✓✓",
        "Ada Holm ← directed by — Amber Road",
        "graph #1 0.3333 + text #1 0.1667",
        "k = 5: graph 2, text 1",
        "retrieve",
    ):
        assert part in text, part


def test_nearness_of_a_text_is_a_number_and_no_tick(films: KnowledgeBase) -> None:
    described = describe_search(run_search(request_search(knowledge_base="films", question=QUESTION, enqueue=False).pk))
    text = {"var": "T", "labels": [], "relevance_text": "asdf qwer"}
    described["plans"] = [
        {"plan": {"anchors": [], "hops": [], "filters": [], "target": text}, "source": "schema", "probability": 1.0,
         "found": 0}
    ]  # fmt: skip
    residual = {"text": "asdf qwer", "status": "met", "score": 0.269, "threshold": 0.25}
    for result in described["results"]:
        result["evidence"] = {"anchors": [], "hops": [], "filters": [], "paths": [], "residual": residual}
    page = shown_search.shown(described)
    assert "≈0.27" in page
    assert "✓" not in page
    assert "1.00" not in page


def test_ticks_name_their_plan_if_it_is_not_the_one_shown_and_say_what_is_excluded(films: KnowledgeBase) -> None:
    asked = request_search(knowledge_base="films", question="Who made Amber Road?", enqueue=False)
    described = describe_search(run_search(asked.pk))
    first, second = described["results"][:2]
    first["evidence"]["exclude"] = [{"index": 0, "status": "not_met", "paths": []}]
    second["evidence"]["plan_index"] = 1
    page = shown_search.shown(described)
    assert "✓✓✗ excluded" in page
    assert "plan 2: ✓✓" in page


def test_brackets_in_names_are_no_markup(films: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    assert "[bold]who[/bold] [/]" in ask(capsys, "films", "[bold]who[/bold] [/]")


def test_settings_and_plans_reach_the_search(
    films: KnowledgeBase, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(small.PLAN.to_json()))
    given = ("--set", "fuse.k=9", "--set", "fuse.method=dynamic", "--set", "fuse.weights=[1, 2]", "--plan", str(plan))
    shown = json.loads(ask(capsys, "films", QUESTION, "--json", *given))
    assert shown["pipeline"]["specification"]["stages"]["fuse"]["OPTIONS"] == {
        "k": 9.0, "method": "dynamic", "weights": [1, 2],
    }  # fmt: skip
    assert shown["plans"][0]["source"] == "user"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing", QUESTION], ["/knowledge_base: There is no knowledge base 'nothing'. There are: films."]),
        (["films", ""], ["/question: The question is empty"]),
        (["films", "", "-k", "0", "--pipeline", "x"], ["/question:", "/k:", "/pipeline:"]),
        (["films", QUESTION, "--set", "fuse.kk=1"], ["/settings/fuse.kk:", "Did you mean 'fuse.k'?"]),
        (["films", QUESTION, "--set", "nothing"], ["--set takes key=value, not 'nothing'."]),
        (["films", QUESTION, "--plan", "/nowhere/plan.json"], ["/nowhere/plan.json cannot be read"]),
    ],
)
def test_what_is_wrong_is_said_a_line_each_and_exits_with_2(
    films: KnowledgeBase, arguments: list[str], said: list[str]
) -> None:
    error = refused(*arguments)
    assert error.returncode == 2
    for part in said:
        assert part in str(error)
    assert len(str(error).splitlines()) == len([part for part in said if part.startswith(("/", "--"))])


@pytest.mark.parametrize("arguments", [["films"], ["films", "x", "-k", "many"], ["films", "x", "--nonsense"]])
def test_arguments_that_cannot_be_read_are_bad_arguments(arguments: list[str]) -> None:
    assert refused(*arguments).returncode in (1, 2)


def test_a_plan_that_is_no_json_is_said(films: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    for text in ("{", "\xff", "[" * 100_000):
        file.write_text(text)
        error = refused("films", QUESTION, "--plan", str(file))
        assert (error.returncode, "is not JSON" in str(error)) == (2, True)


def test_every_fault_of_a_plan_is_said_once_each_on_its_line(films: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    wrong = small.PLAN.to_json() | {"risk_level": "brave", "filters": [{"var": "T", "field": "year", "op": "<"}]}
    wrong["hops"][0]["rel"] = "directd by"
    file.write_text(json.dumps(wrong))

    error = refused("films", QUESTION, "--plan", str(file))

    lines = str(error).splitlines()
    assert error.returncode == 2
    assert [line.split(":")[0] for line in lines] == ["/plan/hops/0/rel", "/plan/filters/0/value", "/plan/risk_level"]
    assert lines[0].count("Did you mean 'directed by'?") == 1


def test_a_search_that_fails_exits_with_1_and_the_reason(
    films: KnowledgeBase, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(limit: object) -> None:
        raise StageError("retrieve", "the index is away")

    small.HOOKS[QUESTION] = away
    error = refused("films", QUESTION, "--json")
    assert (error.returncode, str(error)) == (1, "the index is away")
    assert json.loads(capsys.readouterr().out)["status"] == "failed"


def test_old_runs_are_pruned_and_counted(films: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    for days in (1, 10, 20):
        run = SearchRun.objects.create(question=str(days), knowledge_base_name="films", pipeline="path", status="done")
        SearchRun.objects.filter(pk=run.pk).update(created=timezone.now() - timedelta(days=days))
    call_command("prune_runs", "--days", "5", "--json")
    assert json.loads(capsys.readouterr().out) == {"deleted": 2, "days": 5}
    assert SearchRun.objects.get().question == "1"


@pytest.mark.parametrize("days", ["-1", "x", "99999999999"])
def test_a_number_of_days_that_is_none_is_refused(days: str) -> None:
    with pytest.raises(CommandError):
        call_command("prune_runs", f"--days={days}")


def test_the_page_of_pipelines_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document_pipelines(), "manage.py document_pipelines > docs/pipelines.md"


def test_the_page_names_bounds_defaults_and_choices(small_pipelines: Any) -> None:
    page = document_pipelines()
    assert "| `fuse.k` | number from 1 to 100 | `5.0` | The constant of reciprocal ranks. |" in page
    assert '| `fuse.method` | `static`, `dynamic` | `"static"` |' in page
    assert "| `fuse.weights` | 2 numbers | `[2.0, 1.0]` |" in page


def test_a_question_follows_another_search(films: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    first = json.loads(ask(capsys, "films", QUESTION, "--json"))
    second = json.loads(ask(capsys, "films", "how many?", "--follows", first["id"], "--json"))
    assert second["follows"] == first["id"]
    error = refused("films", "how many?", "--follows", "nothing")
    assert error.returncode == 2
    assert str(error).startswith("/follows: There is no search with the id 'nothing'")
