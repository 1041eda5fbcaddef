"""The page of one search, at every moment of its life."""

import csv
import io
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from search.models import KnowledgeBase, SearchRun, SearchStep
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.views import results

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ask(films: KnowledgeBase, services: object) -> Callable[..., SearchRun]:
    """Records a search without handing it to a worker."""

    def asked(question: str = "Which films did Ada Holm direct?", **more: Any) -> SearchRun:
        request = {"knowledge_base": "films", "question": question, "origin": SearchRun.Origin.PAGE, "enqueue": False}
        return request_search(**(request | more))

    return asked


def shown(client: Client, run: SearchRun, more: str = "") -> str:
    page = client.get(f"/search/{run.pk}/{more}")
    assert page.status_code == 200
    return page.content.decode()


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_a_finished_search_shows_plan_and_path(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)

    html = shown(client, run)
    said = words(html)
    assert "Two films: Amber Road and amber Light Sure: everything that was asked was checked." in said
    places = [
        html.index(part) for part in ('id="answer"', 'id="because"', 'class="results"', 'id="understood"', "SELECT 1")
    ]
    assert places == sorted(places)
    assert "results" not in words(html[html.index('id="answer"') : html.index('class="results"')])
    assert "Ada Holm" in said
    assert "Ada Holm ← directed by — Amber Road" in said
    assert "not used" in said
    assert "SELECT 1" in said
    assert "hx-get" not in html
    assert "htmx" not in html.replace("htmx-config", "")


def test_the_arithmetic_of_a_place_is_a_part_of_the_page_for_its_script_and_a_page_without(
    client: Client, ask: Callable[..., SearchRun]
) -> None:
    run = run_search(ask().pk)

    assert "2 / (5 + 1)" not in shown(client, run)
    assert f'href="/search/{run.pk}/results/1/why/" data-later' in shown(client, run)
    page = shown(client, run, "results/1/why/")
    part = client.get(f"/search/{run.pk}/results/1/why/", headers={"X-Page-Part": "why"}).content.decode()
    for html in (page, part):
        said = words(html)
        # By hand: first of the graph's list with weight 2, first of the text's with weight 1, k is 5.
        assert "2 / (5 + 1) 0.3333" in said
        assert "1 / (5 + 1) 0.1667" in said
        assert "Sum 0.5000" in said
        assert f'href="/search/{run.pk}/results/1/paths/"' in html
    assert "Why Amber Road is here" in words(page)
    assert f'href="/search/{run.pk}/#result-1"' in page
    assert "<h1" not in part
    assert client.get(f"/search/{run.pk}/results/4/why/").status_code == 404


def test_a_very_long_text_is_cut_where_it_is_repeated(client: Client, ask: Callable[..., SearchRun]) -> None:
    plan = {
        "anchors": [{"var": "a", "text": "Ada Holm", "label": "person", "match_mode": "name"}],
        "hops": [{"from": "a", "rel": "directed by", "to_var": "T", "to_label": "film"}],
        "target": {"var": "T", "labels": ["film"], "relevance_text": "xylophone " * 199},
        "filters": [],
    }
    run = run_search(ask(plan=plan).pk)

    page = shown(client, run)
    html = re.sub(r'<(textarea|pre|details)\b.*?</\1>| (?:title|value)="[^"]*"', "", page, flags=re.DOTALL)
    assert "“xylophone" in words(html)
    assert max(map(len, re.findall(r"[^<>]+", html))) < 300


def test_the_address_can_be_shared(ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)

    assert "Amber Road" in shown(Client(), run)


def test_who_may_not_see_the_knowledge_base_does_not_see_its_searches(
    client: Client, films: KnowledgeBase, ask: Callable[..., SearchRun]
) -> None:
    run = run_search(ask().pk)
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()

    for more in ("", "live/", "trace/", "results.csv", "plans/", "results/1/why/"):
        assert client.get(f"/search/{run.pk}/{more}").status_code == 404
    assert client.post(f"/search/{run.pk}/cancel/").status_code == 404
    client.force_login(User.objects.create_user("staff", is_staff=True))
    assert "Amber Road" in shown(client, run)


def test_results_of_a_knowledge_base_that_is_gone_say_that_the_box_names_another(
    client: Client, films: KnowledgeBase, ask: Callable[..., SearchRun]
) -> None:
    run = run_search(ask().pk)
    gone = "films cannot be searched any more."
    offered = ("Change it", "Ask on", "Ask again", "Compare", "Collect", "/kb/films/nodes/")
    assert gone not in words(shown(client, run))
    assert [one for one in offered if one not in shown(client, run)] == []
    # As a removal leaves them: the search remains for staff, and no release of that name answers.
    client.force_login(User.objects.create_user("staff", is_staff=True))
    SearchRun.objects.filter(pk=run.pk).update(knowledge_base=None, release=None)
    KnowledgeBase.objects.filter(pk=films.pk).update(active_release=None)
    html = shown(client, run)
    assert gone in words(html)
    # What would lead to a page that says “Nothing here”, or only to a refusal. (*Compare several* is of the box.)
    assert [one for one in offered if one in html.replace("Compare several", "")] == []


def test_a_queued_search_without_a_worker_says_so_and_works_without_scripts(
    client: Client, ask: Callable[..., SearchRun]
) -> None:
    run = ask()

    html = shown(client, run)
    assert "No search worker is running" in html
    assert '<noscript><meta http-equiv="refresh" content="1"></noscript>' in html
    assert 'hx-trigger="every 200ms"' in html


def test_a_search_that_ends_soon_is_shown_with_its_results_at_once(
    admin_client: Client, ask: Callable[..., SearchRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ONE_RENDER_SECONDS", 60.0)
    # A search of a command needs no worker, so the page has no reason not to wait.
    run = ask(origin=SearchRun.Origin.COMMAND)

    def searched() -> None:
        try:
            run_search(run.pk, live=True)
        finally:
            connection.close()

    thread = threading.Thread(target=searched)
    thread.start()
    html = shown(admin_client, run)
    thread.join()
    assert "Amber Road" in html
    assert "hx-get" not in html


def test_following_answers_nothing_while_there_is_nothing_new(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = ask()
    seen = re.search(r'hx-get="([^"]+)"', shown(client, run))
    assert seen is not None

    assert client.get(seen.group(1)).status_code == 204
    run_search(run.pk)
    part = client.get(seen.group(1))
    assert part.status_code == 200
    assert part.content.decode().lstrip().startswith('<div id="live"')
    assert "Amber Road" in part.content.decode()
    assert "hx-get" not in part.content.decode()


def test_cancelling_ends_a_queued_search_and_comes_back_to_its_page(
    admin_client: Client, ask: Callable[..., SearchRun]
) -> None:
    run = ask()

    answer = admin_client.post(f"/search/{run.pk}/cancel/", follow=True)

    assert answer.redirect_chain == [(f"/search/{run.pk}/", 302)]
    assert "Cancelled." in answer.content.decode()
    assert admin_client.get(f"/search/{run.pk}/cancel/").status_code == 405


def test_a_failed_search_says_in_which_stage_and_why(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = ask()
    SearchRun.objects.filter(pk=run.pk).update(
        status=SearchRun.Status.FAILED,
        error={"title": "The search failed", "detail": "Postgres went.", "stage": "fuse"},
    )

    said = words(shown(client, run))
    assert "The search failed in fuse" in said
    assert "Postgres went." in said
    assert "not reached" in said


def test_a_search_by_text_alone_shows_its_list_without_conditions(
    client: Client, ask: Callable[..., SearchRun]
) -> None:
    run = run_search(ask(pipeline="text").pk)

    page = shown(client, run)
    assert "Nothing here answers this exactly" in words(page)
    assert "Only texts were compared, so nothing was checked. Closest texts, possibly unrelated" in words(page)
    assert page.count('class="result"') == 3
    why = words(shown(client, run, "results/1/why/"))
    assert "there are no conditions to check" in why
    assert "w / (k + rank)" not in why


NOTHING_NAMED = {
    "anchors": [], "hops": [], "target": {"var": "T", "labels": [], "relevance_text": "asdf qwer"}, "filters": [],
    "risk_level": "no_trade",
}  # fmt: skip


def nonsense(ask: Callable[..., SearchRun], **entry: Any) -> SearchRun:
    """A search in which the planner recognised nothing, as it records that."""
    run = run_search(ask("asdf qwer").pk)
    run.steps.filter(name="plan").update(
        output=[{"plan": NOTHING_NAMED, "source": "schema", "probability": 1.0} | entry]
    )
    run.steps.filter(name="traverse").update(output=[])
    explained = run.steps.get(name="explain")
    for result in explained.output:
        residual = {"text": "asdf qwer", "status": "met", "score": 0.27, "threshold": 0.25}
        result["evidence"] = {
            "plan_index": 0, "anchors": [], "hops": [], "filters": [], "paths": [], "residual": residual,
        }  # fmt: skip
    explained.save()
    return run


def test_a_question_that_names_nothing_is_answered_with_what_is_nearest_and_says_so(
    client: Client, ask: Callable[..., SearchRun]
) -> None:
    page = shown(client, nonsense(ask))
    said = words(page)

    assert "Nothing in the question names anything here, so only texts could be compared." in said
    assert "Closest texts, possibly unrelated" in said
    assert 'class="fact">found<' not in page
    assert 'class="met"' not in page


def test_a_question_that_names_nothing_can_be_asked_of_the_other_bases_that_its_reader_may_search(
    client: Client, films: KnowledgeBase, ask: Callable[..., SearchRun]
) -> None:
    made = {"active_release": films.active_release}
    public = KnowledgeBase.Visibility.PUBLIC
    KnowledgeBase.objects.create(name="plants", title="Plants", visibility=public, **made)
    KnowledgeBase.objects.create(name="secret", visibility=KnowledgeBase.Visibility.STAFF, **made)
    KnowledgeBase.objects.create(name="unready", visibility=public)
    buttons = re.compile(r'name="kb" value="(\w+)"[^>]*>([^<]+)</button>')

    page = shown(client, nonsense(ask))
    assert "Ask it of another knowledge base: Plants" in words(page)
    assert buttons.findall(page) == [("plants", "Plants")]
    assert buttons.findall(shown(client, run_search(ask().pk))) == []


def test_a_plan_without_entities_that_was_given_is_not_put_down_to_the_question(
    client: Client, ask: Callable[..., SearchRun]
) -> None:
    assert "Ask it of another knowledge base" not in words(shown(client, nonsense(ask, source="user")))


def test_a_degraded_search_names_what_is_off(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)
    run.steps.filter(name="rescore").update(status="degraded", detail="no plan found anything; text only")

    said = words(shown(client, run))
    assert "Answered with less than usual. Rescore : No plan found anything; text only" in said


def test_how_a_plan_was_mended_stands_in_the_fold_in_sentences(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)
    for at, (status, detail) in enumerate(
        [("ok", "Nothing was found with the plan as it stood."), ("ok", "Found after dropping <brand>.")]
    ):
        SearchStep.objects.create(run=run, position=20 + at, name="mend", role="recover", status=status, detail=detail)

    html = shown(client, run)
    said = words(html)
    assert (
        "How this was found. Found after dropping &lt;brand&gt;. "
        "1 step before that Nothing was found with the plan as it stood."
    ) in said
    assert html.index("How this was understood") < html.index("How this was found")
    assert "Answered with less than usual" not in said


def test_the_results_can_be_taken_along_as_a_table(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)
    step = run.steps.get(name="explain")
    step.output[0]["node"]["name"] = '=HYPERLINK("http://x","y")'
    step.save()

    assert f'href="/search/{run.pk}/results.csv" download' in shown(client, run)
    answer = client.get(f"/search/{run.pk}/results.csv")
    assert answer.streaming
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="search-{run.pk}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    assert [row["id"] for row in rows] == ["film/1", "film/2", "film/3"]
    # By hand: 2 / (5 + 1) from the graph, 1 / (5 + 1) from the text.
    assert float(rows[0]["graph contribution"]) == pytest.approx(1 / 3)
    assert float(rows[0]["score"]) == pytest.approx(1 / 2)
    assert rows[0]["name"] == '\'=HYPERLINK("http://x","y")'
    assert rows[0]["paths"] == "Ada Holm ← directed by — Amber Road"
    assert client.head(f"/search/{run.pk}/results.csv").status_code == 200


def test_nothing_found_is_said_with_what_may_help(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)
    run.steps.filter(name="explain").update(output=[])

    assert "Nothing found" in shown(client, run)


def test_the_trace_shows_each_step_with_its_output(client: Client, ask: Callable[..., SearchRun]) -> None:
    run = run_search(ask().pk)
    assert run.started is not None
    SearchRun.objects.update(created=run.started - timedelta(seconds=1))

    html = shown(client, run, "trace/")
    assert [words(name) for name in re.findall(r'<span class="step-name">(.*?)</span>', html)] == [
        "Waiting", "Plan", "Link", "Traverse", "Rescore", "Retrieve", "Fuse", "Check", "Rerank", "Explain",
    ]  # fmt: skip
    assert "&quot;relevance_text&quot;" in html
    assert "search page" in html


def test_hostile_questions_and_names_are_text_everywhere(client: Client, ask: Callable[..., SearchRun]) -> None:
    hostile = "<img src=x onerror=alert(1)> </title><script>alert(2)</script>"
    run = run_search(ask(hostile).pk)
    step = run.steps.get(name="explain")
    step.output[0]["node"]["name"] = step.output[0]["snippet"] = hostile
    step.output[0]["evidence"]["paths"][0][-1]["node"]["name"] = hostile
    step.save()

    for more in ("", "live/", "trace/", "plans/", "results/1/why/"):
        html = shown(client, run, more)
        assert "<img" not in html.replace('<img src="/static/search/logo.svg', "")
        assert "<script>" not in html
        assert "&lt;" in html
