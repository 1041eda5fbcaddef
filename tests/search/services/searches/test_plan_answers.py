"""All answers of a plan and their facets, executed again after the search, over a graph in Postgres and memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase, SearchRun
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.describe_search import describe_search
from search.services.searches.facets import facets_of
from search.services.searches.plan_answers import answer_rows, forget_answers, page_of, plan_answers
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.views import results
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db(transaction=True)

FILMS = 120
NODES = [
    {"id": "ada", "type": "person", "name": "=Ada+Holm", "fields": {}},
    {"id": "bob", "type": "person", "name": "Bob Berg", "fields": {}},
    *(
        {"id": f"f{at:03}", "type": "film", "name": f"=Film {at}",
         "fields": {"year": 1950 + at // 10, "genre": "drama" if at % 3 else "comedy", "plot": f"Plot {at}."}}
        for at in range(FILMS)
    ),
]  # fmt: skip
EDGES = [
    {"source": f"f{at:03}", "relation": "DIRECTED_BY", "target": "ada" if at % 4 else "bob"} for at in range(FILMS)
]
TYPE_ALONE: dict[str, Any] = {
    "anchors": [], "hops": [], "target": {"var": "T", "labels": ["film"], "relevance_text": ""},
    "filters": [{"var": "T", "field": "year", "op": ">=", "value": 1950}], "risk_level": "normal",
}  # fmt: skip
ORDERED = TYPE_ALONE | {"order": {"by": {"field": "year"}, "direction": "desc", "limit": None}}
OF_ADA = TYPE_ALONE | {
    "anchors": [{"var": "A", "text": "=Ada+Holm", "label": "person", "ids": ["ada"]}],
    "hops": [{"from": "A", "rel": "DIRECTED_BY", "to_var": "T", "to_label": "film", "direction": "in"}],
}
Ask = Callable[[dict[str, Any]], SearchRun]


@pytest.fixture
def ask(tmp_path: Path, settings: Settings, services: object) -> Iterator[Ask]:
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    import_snapshot(source=bundles.write(tmp_path / "bundle", NODES, EDGES))

    def asked(plan: dict[str, Any]) -> SearchRun:
        run = request_search(knowledge_base="films", question="Which films?", plan=plan, k=5, enqueue=False)
        return run_search(run.pk)

    yield asked
    wiring.forget()
    forget_answers()


def test_every_answer_is_listed_page_by_page_in_the_order_of_the_plan(ask: Ask) -> None:
    run = ask(ORDERED)
    answers = plan_answers(run)
    assert (len(answers), answers.complete, answers.reason) == (FILMS, True, "")
    pages = [one for first in range(0, FILMS, 50) for one in page_of(answers, run, first, 50)]
    assert [one.number for one in pages] == list(range(1, FILMS + 1))
    assert len({one.node["id"] for one in pages}) == FILMS
    # Ten films a year, the newest year first: each place is shared by ten.
    assert [one.placed.value for one in pages if one.placed] == [1961 - at // 10 for at in range(FILMS)]
    assert [one.placed.place for one in pages if one.placed] == [1 + at // 10 for at in range(FILMS)]
    assert all(one.equal for one in pages)
    assert page_of(answers, run, FILMS, 50) == []


def test_the_table_has_every_answer_with_its_fields_as_they_are(ask: Ask) -> None:
    run = ask(ORDERED)
    header, *rows = answer_rows(plan_answers(run), run)
    assert header[:6] == ["number", "place", "value", "id", "type", "name"]
    assert set(header[6:]) == {"year", "genre", "plot"}
    assert len(rows) == FILMS
    assert rows[0][:4] == [1, 1, 1961, "f110"]
    assert {str(row[5])[:2] for row in rows} == {"=F"}


def test_the_table_is_streamed_to_the_browser(ask: Ask, client: Client) -> None:
    run = ask(TYPE_ALONE)
    answer = client.get(f"/search/{run.pk}/answers.csv")
    assert answer.streaming
    text = b"".join(answer.streaming_content).decode("utf-8-sig")  # type: ignore[arg-type]
    assert len(list(csv.reader(io.StringIO(text)))) == FILMS + 1


def test_pages_of_answers_link_to_each_other_and_end(ask: Ask, client: Client) -> None:
    run = ask(TYPE_ALONE)
    first = client.get(f"/search/{run.pk}/answers/").content.decode()
    assert "120 answers" in first
    assert "?page=2" in first
    last = client.get(f"/search/{run.pk}/answers/?page=3").content.decode()
    assert "Page 3 of 3" in last
    assert "?page=4" not in last
    for wrong in ("4", "0", "-1", "x", "1e9", "9" * 30):
        assert client.get(f"/search/{run.pk}/answers/?page={wrong}").status_code == 404


def test_facets_count_all_answers_and_each_becomes_a_filter_with_that_many_answers(ask: Ask) -> None:
    run = ask(TYPE_ALONE)
    found = facets_of(plan_answers(run), run)
    assert (found.looked_at, found.answers) == (FILMS, FILMS)
    by_name = {facet.name: facet for facet in found.facets}
    assert set(by_name) == {"year", "genre", "DIRECTED_BY"}
    assert [(v.label, v.count) for v in by_name["genre"].values] == [("drama", 80), ("comedy", 40)]
    assert [(v.label, v.count) for v in by_name["DIRECTED_BY"].values] == [("=Ada+Holm", 90), ("Bob Berg", 30)]
    assert [v.label for v in by_name["year"].values] == ["1950 – 1952", "1953 – 1955", "1956 – 1958", "1959 – 1961"]
    for facet in found.facets:
        for value in facet.values:
            added = {key: [*TYPE_ALONE[key], *value.adds.get(key, ())] for key in ("anchors", "hops", "filters")}
            assert len(plan_answers(ask(TYPE_ALONE | added))) == value.count


def test_results_do_not_wait_for_facets_that_take_long_and_the_page_keeps_their_room(
    ask: Ask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask(TYPE_ALONE)
    monkeypatch.setattr(results, "PROMPT_SECONDS", 60.0)
    with_results = client.get(f"/search/{run.pk}/").content.decode()
    assert "<legend>genre</legend>" in with_results
    assert "data-facets" not in with_results

    monkeypatch.setattr(results, "PROMPT_SECONDS", 0.0)
    page = client.get(f"/search/{run.pk}/").content.decode()
    assert f'data-facets="/search/{run.pk}/facets/"' in page
    assert "<legend>genre</legend>" not in page
    assert "<legend>genre</legend>" in client.get(f"/search/{run.pk}/facets/").content.decode()
    # Without script, a link waits for them.
    assert f'href="/search/{run.pk}/?narrow=1"' in page
    assert "<legend>genre</legend>" in client.get(f"/search/{run.pk}/?narrow=1").content.decode()


def test_a_press_on_a_facet_asks_again_with_it_and_can_be_taken_back(ask: Ask, client: Client) -> None:
    run = ask(TYPE_ALONE)
    found = facets_of(plan_answers(run), run)
    genre = next(facet for facet in found.facets if facet.name == "genre")
    pressed = client.post(f"/search/{run.pk}/refine/", {"do": f"add {json.dumps(dict(genre.values[1].adds))}"})
    assert pressed.status_code == 302
    asked = SearchRun.objects.get(pk=pressed.url.strip("/").split("/")[-1])  # type: ignore[attr-defined]
    assert [one["value"] for one in asked.plan["filters"]] == [1950, "comedy"]
    back = client.post(f"/search/{run_search(asked.pk).pk}/refine/", {"do": "drop-filter 1"})
    again = SearchRun.objects.get(pk=back.url.strip("/").split("/")[-1])  # type: ignore[attr-defined]
    assert again.plan["filters"] == TYPE_ALONE["filters"]


@pytest.mark.parametrize("do", ["", "add", "add []", "add {", 'add {"filters": 3}', "drop-filter 99", "nonsense 1",
                                'add {"filters": [{"var": "T", "field": "no", "op": "=", "value": 1}]}'])  # fmt: skip
def test_a_press_on_nothing_asks_the_same_again(ask: Ask, client: Client, do: str) -> None:
    run = ask(TYPE_ALONE)
    pressed = client.post(f"/search/{run.pk}/refine/", {"do": do})
    assert pressed.status_code == 302
    asked = SearchRun.objects.get(pk=pressed.url.strip("/").split("/")[-1])  # type: ignore[attr-defined]
    assert asked.plan["filters"] == TYPE_ALONE["filters"]


def test_few_answers_have_no_facets_and_a_plan_that_found_nothing_has_no_answers(ask: Ask) -> None:
    few = ask(TYPE_ALONE | {"filters": [{"var": "T", "field": "name", "op": "=", "value": "=Film 7"}]})
    assert len(plan_answers(few)) == 1
    assert facets_of(plan_answers(few), few).facets == ()
    none = ask(OF_ADA | {"filters": [{"var": "T", "field": "year", "op": ">", "value": 3000}]})
    found = plan_answers(none)
    assert len(found) == 0
    assert list(answer_rows(found, none)) == [["number", "id", "type", "name"]]


def test_the_api_gives_pages_of_answers_and_their_facets(ask: Ask, client: Client) -> None:
    run = ask(ORDERED)
    page = client.get(f"/api/v1/searches/{run.pk}/answers/?page=2&page_size=100").json()
    assert (page["count"], len(page["results"]), page["next"]) == (FILMS, 20, None)
    assert page["results"][0] == {
        "number": 101, "node": {"id": "f010", "type": "film", "name": "=Film 10"},
        "value": 1951, "place": 11, "equal": True,
    }  # fmt: skip
    facets = client.get(f"/api/v1/searches/{run.pk}/facets/").json()
    assert {facet["name"] for facet in facets["facets"]} == {"year", "genre", "DIRECTED_BY"}


def test_a_search_without_a_plan_says_why_it_has_no_answers(ask: Ask, client: Client) -> None:
    ask(TYPE_ALONE)
    run = request_search(knowledge_base="films", question="Which films?", pipeline="bm25", enqueue=False)
    answer = client.get(f"/api/v1/searches/{run_search(run.pk).pk}/answers/")
    assert answer.status_code == 404
    assert "uses no plan" in answer.json()["detail"]
    assert client.get(f"/search/{run.pk}/answers.csv").status_code == 404
    assert "uses no plan" in client.get(f"/search/{run.pk}/answers/").content.decode()


def computing(ask: str, **more: Any) -> dict[str, Any]:
    return TYPE_ALONE | {"filters": [], "ask": ask, "show": "year"} | more


def test_what_is_computed_from_all_answers_is_one_thing_and_stands_first(ask: Ask, client: Client) -> None:
    # Ten films of each year from 1950 to 1961; five results are shown.
    run = ask(computing("mean"))
    answer = describe_search(run)["answer"]
    values = answer.pop("values")
    assert answer.pop("written")[0]["text"] == "The mean year of 120 films is 1955.5 [1]."
    assert answer == {
        "kind": "aggregate", "aggregate": {"function": "mean", "field": "year", "value": 1955.5, "nodes": FILMS},
        "count": FILMS, "complete": True, "field": "year", "line": "1955.5, the mean year of 120 films",
        "verdict": "sure", "because": "Sure: this meaning was chosen, and all of it was checked.", "settle": [],
    }  # fmt: skip
    assert len(values) == 5
    assert all(1950 <= one["value"] <= 1961 for one in values)
    page = client.get(f"/search/{run.pk}/").content.decode()
    assert ">1955.5, the mean year of 120 films</p>" in page
    assert "mean year" in page
    assert "All 120 answers" in " ".join(page.split()).replace("All 120</a>", "All 120")
    told = client.get(f"/api/v1/searches/{run.pk}/").json()["answer"]
    assert told["aggregate"] == answer["aggregate"]
    assert len(plan_answers(run)) == FILMS


@pytest.mark.parametrize(
    ("plan", "value", "nodes", "count"),
    [
        # Ada directed all films but each fourth one: 1950 + at // 10, over the at that 4 does not divide.
        (OF_ADA | {"filters": [], "ask": "sum", "show": "year"}, 175_998, 90, 90),
        (OF_ADA | {"ask": "max", "show": "year"}, 1961, 90, 90),
        # The newest film of each first place: the ten films of 1961.
        (computing("mean", order={"by": {"field": "year"}, "direction": "desc", "limit": 1}), 1961, 10, 10),
        (computing("min", filters=[{"var": "T", "field": "year", "op": ">", "value": 1961}]), None, 0, 0),
    ],
)  # fmt: skip
def test_what_a_search_computes(ask: Ask, plan: dict[str, Any], value: Any, nodes: int, count: int) -> None:
    answer = describe_search(ask(plan))["answer"]
    assert (answer["kind"], answer["count"]) == ("aggregate", count)
    assert (answer["aggregate"]["value"], answer["aggregate"]["nodes"]) == (value, nodes)


def test_more_answers_than_candidates_are_kept_are_all_computed_with(ask: Ask, client: Client) -> None:
    base = KnowledgeBase.objects.get(name="films")
    run = request_search(
        knowledge_base=base.name, question="Mean year?", plan=computing("mean"), k=5, enqueue=False,
        settings={"traverse.rows": 20},
    )  # fmt: skip
    answer = describe_search(run_search(run.pk))["answer"]
    assert (answer["aggregate"]["value"], answer["count"], answer["complete"]) == (1955.5, FILMS, True)


def test_a_plan_inside_another_one_is_answered_shown_and_asked_again(ask: Ask, client: Client) -> None:
    # Who directed the film that comes last in the order of years and is a comedy: films 111, 114 and 117 of 1961.
    newest = TYPE_ALONE | {
        "filters": [{"var": "T", "field": "genre", "op": "=", "value": "comedy"}],
        "order": {"by": {"field": "year"}, "direction": "desc", "limit": 1},
    }  # fmt: skip
    del newest["risk_level"]
    outer = {
        "anchors": [{"var": "f", "plan": newest}],
        "hops": [{"from": "f", "rel": "DIRECTED_BY", "to_var": "T", "to_label": "person", "direction": "out"}],
        "target": {"var": "T", "labels": ["person"]},
    }  # fmt: skip
    run = ask(outer)
    described = describe_search(run)
    assert [result["node"]["id"] for result in described["results"] if result["answers"]] == ["ada"]
    [bound] = described["linked"]
    assert {one["node"]["id"] for one in bound["bindings"]} == {"f111", "f114", "f117"}
    page = client.get(f"/search/{run.pk}/").content.decode()
    assert "film with genre = comedy with the highest year:" in page
    form = client.get(f"/search/{run.pk}/plan/")
    assert form.status_code == 200
