"""A question from the box to the sum that explains each place."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from search.domain.question import LONGEST_QUESTION
from tests.browser.asking import ANSWERS, QUESTION, ask, finished, open_understood
from tests.browser.conftest import Site
from tests.browser.test_everybody import FAINT_TEXT

pytestmark = pytest.mark.browser

SAID_WITHIN = 3_000
"""Milliseconds until the page has to say that nobody works."""


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_question_that_names_nothing_gets_what_is_nearest_and_no_condition_is_called_met(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = open_page("/", viewport={"width": width, "height": 844}, color_scheme=scheme)
    ask(page, "asdf qwer")

    expect(page.get_by_text("Nothing in the question names anything here")).to_be_visible()
    expect(page.get_by_role("heading", name="Closest texts, possibly unrelated")).to_be_visible()
    expect(page.locator(".conditions .met, .checks .met")).to_have_count(0)
    open_understood(page)
    facts = page.locator(".plan")
    expect(facts).not_to_contain_text("probability")
    expect(facts).not_to_contain_text("found 0")
    assert page.evaluate(FAINT_TEXT) == []


def test_a_question_is_answered_with_its_plan_its_paths_and_its_arithmetic(page: Page) -> None:
    ask(page)

    open_understood(page)
    plan = page.get_by_role("region", name="Plan", exact=True)
    expect(plan).to_contain_text("Ingunn Aas")
    expect(plan).to_contain_text("Ostervik")
    first = page.locator(".result").first
    link = first.get_by_role("heading", level=3).get_by_role("link").get_attribute("href")
    assert link is not None
    assert link.split("/nodes/")[1].rstrip("/") in ANSWERS
    assert first.locator(".conditions .not_met").count() == 0
    assert first.locator(".path").all_inner_texts()[0].startswith("Ingunn Aas designed ")

    first.get_by_text("Why here").click()
    expect(first.locator(".sum tbody tr.inner")).to_have_count(2)
    parts = []
    for row in first.locator(".sum tbody tr:not(.inner)").all():
        formula, adds = row.locator("td").nth(2).inner_text(), float(row.locator("td").nth(3).inner_text())
        if not numbers(formula):
            assert adds == 0
            continue
        weight, k, rank = numbers(formula)
        assert rank == float(row.locator("td").nth(0).inner_text())
        assert adds == pytest.approx(weight / (k + rank), abs=6e-5)
        parts.append(weight / (k + rank))
    total = float(first.locator(".total").inner_text())
    assert total == pytest.approx(sum(parts), abs=6e-5)
    drawing = first.locator(".drawing svg")
    assert "Ingunn Aas designed " in (drawing.locator("> title").text_content() or "")
    assert "designed" in drawing.locator(".edge-name").all_text_contents()
    assert {"designer", "product"} <= set(drawing.locator(".box-type").all_text_contents())


def test_plan_and_query_are_one_click_away(page: Page) -> None:
    ask(page)

    open_understood(page)
    page.get_by_text("Plan as JSON").click()
    expect(page.locator("#plan-json")).to_contain_text('"relevance_text"')
    page.get_by_text(re.compile("query of plan 1$")).click()
    expect(page.locator("#query-0")).to_contain_text("–DESIGNED_BY– T")


def test_the_address_of_a_search_can_be_shared(page: Page, open_page: Callable[..., Page]) -> None:
    ask(page)
    names = page.locator(".result h3").all_text_contents()

    other = open_page(page.url)

    expect(other.locator(".result h3")).to_have_text(names)
    assert QUESTION in other.title()


def test_an_example_is_asked_by_a_click(page: Page) -> None:
    example = page.locator(".examples button").first
    question = example.inner_text()
    example.click()
    finished(page)

    expect(page.get_by_label("Question", exact=True)).to_have_value(question.strip())
    assert page.locator(".result").count() > 0


def test_recent_searches_are_offered_to_the_same_browser_only(page: Page, open_page: Callable[..., Page]) -> None:
    ask(page)
    page.goto("/")

    expect(page.locator(".recent")).to_contain_text(QUESTION)
    assert open_page("/").locator(".recent").count() == 0


@pytest.mark.parametrize("pipeline", ["bm25", "vss", "hybrid"])
def test_the_baselines_answer_without_a_plan(page: Page, pipeline: str) -> None:
    ask(page, "a flask that keeps tea hot", pipeline=pipeline)

    assert page.locator(".result").count() > 0
    assert page.get_by_role("region", name="Plan", exact=True).count() == 0


@pytest.mark.parametrize(
    "question",
    [
        "<script>document.title='owned'</script><img src=x onerror=alert(1)>",
        "'; DROP TABLE search_node; -- MATCH (n) DETACH DELETE n",
        '"quotes" & ‘more’ “of” them {{ 7*7 }} %s %d \\',
        "🎒🏕️ ⛺?",
        "Was hat Ingunn Aas für Ostervik entworfen?",
    ],
)
def test_odd_questions_are_text_and_get_an_answer(page: Page, question: str) -> None:
    ask(page, question)

    expect(page.get_by_label("Question", exact=True)).to_have_value(question)
    assert "owned" not in page.title().split("–")[-1]
    assert page.locator("main img").count() == 0


def test_a_question_that_is_too_long_is_explained_beside_the_box(page: Page) -> None:
    # The box takes no more than fits: what sends more is no browser's box any longer.
    page.get_by_label("Question", exact=True).evaluate("(box) => box.removeAttribute('maxlength')")
    page.get_by_label("Question", exact=True).fill("why " * (LONGEST_QUESTION // 4 + 1))
    page.get_by_role("button", name="Ask", exact=True).click()

    expect(page.locator("#q-fault")).to_contain_text(f"{LONGEST_QUESTION:,} are the most")
    expect(page.get_by_label("Question", exact=True)).to_be_focused()


def test_a_plan_can_be_changed_and_asked_with(page: Page) -> None:
    ask(page)
    open_understood(page)
    page.get_by_text("Plan as JSON").click()
    page.get_by_text("Change it and ask again").click()
    plan = page.get_by_label("Plan (JSON)")
    plan.fill(plan.input_value().replace("DESIGNED_BY", "DESIGNED_BI"))
    page.locator(".edit").get_by_role("button", name="Ask with this plan").click()

    expect(page.get_by_role("alert")).to_contain_text("DESIGNED_BY")


def test_a_sleeping_worker_is_noticed_the_search_can_be_cancelled_and_later_ones_are_answered(
    page: Page, site: Site
) -> None:
    with site.worker_asleep():
        page.get_by_label("Question", exact=True).fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("No search worker is running", timeout=SAID_WITHIN)
        waiting = page.url
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#state")).to_contain_text("Cancelled")
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator("#state.queued")).to_be_visible()
        assert page.url != waiting

    finished(page)
    assert page.locator(".result").count() > 0


def test_a_slow_answer_is_the_last_word_nothing_is_replaced_after_the_end(page: Page, site: Site) -> None:
    asked: list[Route] = []
    page.route("**/live/**", lambda route: asked.append(route))
    with site.worker_asleep():
        page.get_by_label("Question", exact=True).fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator("#state.queued")).to_be_visible()
        # The first look is held back for as long as several more would take.
        page.wait_for_function("(end) => performance.now() > end", arg=page.evaluate("performance.now() + 1000"))
    address = page.url.replace("/search/", "/api/v1/searches/")
    while page.request.get(address).json()["status"] != "done":
        pass
    assert len(asked) == 1
    asked[0].continue_()
    finished(page)
    # Whatever was to follow would be on its way before this.
    page.evaluate("fetch('/status/')")

    assert len(asked) == 1


def test_everything_works_without_scripts(open_page: Callable[..., Page], site: Site) -> None:
    page = open_page("/", java_script_enabled=False)
    with site.worker_asleep():
        page.get_by_label("Question", exact=True).fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator("#state.queued")).to_be_visible()

    finished(page)
    page.locator(".result").first.get_by_text("Why here").click()
    page.locator(".result").first.get_by_role("link", name="The sum and the evidence").click()
    expect(page.locator(".sum")).to_be_visible()
    page.get_by_role("link", name="Back to the results").click()
    expect(page).to_have_url(re.compile("#result-1$"))


def test_names_are_offered_while_one_types(page: Page) -> None:
    page.get_by_label("in", exact=True).select_option("products")
    box = page.get_by_label("Question", exact=True)
    box.press_sequentially("what did ingunn a")
    offered = page.get_by_role("option", name=re.compile("Ingunn Aas"))
    expect(offered).to_be_visible()
    box.press("ArrowDown")
    box.press("Enter")

    expect(box).to_have_value("what did Ingunn Aas")
    expect(offered).to_be_hidden()


def test_an_entity_leads_to_its_neighbours_and_to_questions_about_it(page: Page) -> None:
    page.goto("/kb/products/nodes/designer:ingunn-aas/")

    expect(page.get_by_role("heading", level=1)).to_have_text("Ingunn Aas")
    page.locator(".neighbours a").first.click()
    expect(page.get_by_role("link", name="Ingunn Aas")).to_be_visible()
    page.get_by_role("button", name="Ask", exact=True).click()
    finished(page)


def test_the_trace_shows_who_did_what_for_how_long(page: Page) -> None:
    ask(page)
    page.get_by_role("link", name="Trace", exact=True).click()

    names = page.locator(".waterfall .step-name").all_inner_texts()
    assert [name.strip("▸▾ ") for name in names] == [
        "Waiting", "Plan", "Link", "Traverse", "Rescore", "Retrieve", "Fuse", "Check", "Rerank", "Explain",
    ]  # fmt: skip
    page.get_by_text("Retrieve", exact=True).click()
    expect(page.locator(".waterfall details[open] pre").last).to_contain_text('"scores"')
