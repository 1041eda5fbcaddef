"""The answer on the page: its line, where the answers end, all of them, facets, and conditions changed in one press."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from search.sentences.values import counted
from tests.browser.asking import finished, open_understood
from tests.browser.axe import faint_in_dark, violations

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("GRASP_SCREENSHOTS", "")
"""Folder for screenshots of these pages; none are taken without it."""
PRODUCTS: dict[str, Any] = {
    "anchors": [], "hops": [], "target": {"var": "T", "labels": ["product"], "relevance_text": ""}, "filters": [],
    "risk_level": "aggressive",
}  # fmt: skip
CHEAP = PRODUCTS | {"filters": [{"var": "T", "field": "price", "op": "<", "value": 20}]}
SINCE_2015 = PRODUCTS | {"filters": [{"var": "T", "field": "released", "op": ">=", "value": "2015"}]}
OSTERVIK: dict[str, Any] = PRODUCTS | {
    "anchors": [{"var": "b", "text": "Ostervik", "label": "brand"}],
    "hops": [{"from": "b", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": "in"}],
}
NOT_STEEL = {
    "anchors": [{"var": "m", "text": "Stainless Steel", "label": "material"}],
    "hops": [{"from": "T", "rel": "MADE_OF", "to_var": "m", "to_label": "material", "direction": "out"}],
}
BRANDS = PRODUCTS | {
    "target": {"var": "T", "labels": ["brand"], "relevance_text": ""},
    "order": {"by": {"count": {"rel": "HAS_BRAND", "direction": "in", "to_label": "product"}},
              "direction": "desc", "limit": None},
}  # fmt: skip


@pytest.fixture
def show(page: Page) -> Callable[..., dict[str, Any]]:
    """Ask with a plan and open the page of the search; returns the described search."""

    def shown(plan: dict[str, Any], question: str = "Which products?") -> dict[str, Any]:
        request = {"knowledge_base": "products", "question": question, "plan": plan}
        asked = page.request.post("/api/v1/searches/?wait=30", data=request)
        assert asked.ok, asked.text()
        described: dict[str, Any] = asked.json()
        page.goto(f"/search/{described['id']}/")
        finished(page)
        return described

    return shown


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


def press(page: Page, button: str) -> None:
    """Press a button that asks again, and wait for the new search."""
    before = page.url
    page.get_by_role("button", name=button).first.click()
    page.wait_for_url(lambda url: url != before)
    finished(page)


def test_a_number_is_the_answer_where_one_was_asked(page: Page, show: Callable[..., dict[str, Any]]) -> None:
    described = show(CHEAP | {"ask": "how many"}, "How many products cost less than 20 euros?")
    shoot(page, "answer-count")
    expect(page.locator("#state")).to_have_text(f"{described['answer']['value']} products")
    expect(page.locator("#because")).to_contain_text("Sure: this meaning was chosen")
    # Beside a number nothing near is shown unasked.
    expect(page.locator("#near > .results")).to_have_count(0)


def test_yes_has_its_path_and_no_says_that_everything_was_looked_at(
    page: Page, show: Callable[..., dict[str, Any]]
) -> None:
    show(OSTERVIK | {"ask": "whether"}, "Does Ostervik make anything?")
    expect(page.locator("#state")).to_have_text(re.compile("^Yes: Ostervik makes "))
    nothing = OSTERVIK["filters"] + [{"var": "T", "field": "price", "op": ">", "value": 9999}]
    show(OSTERVIK | {"ask": "whether", "filters": nothing}, "Does Ostervik make anything for 10,000 euros?")
    expect(page.locator("#state")).to_have_text("No: no product with price over 9,999 € is made by “Ostervik”")
    unknown = OSTERVIK | {"anchors": [{"var": "b", "text": "Nobodybrand", "label": "brand", "ids": ["brand:nobody"]}]}
    show(unknown | {"ask": "whether"}, "Does Nobodybrand make anything?")
    expect(page.locator("#state")).to_have_text("This data says neither yes nor no")
    expect(page.locator("#because")).to_contain_text("Nothing here is called “Nobodybrand”.")


def test_answers_and_what_is_near_are_two_lists(page: Page, show: Callable[..., dict[str, Any]]) -> None:
    described = show(OSTERVIK | {"exclude": [NOT_STEEL]}, "Which Ostervik products are not made of steel?")
    shoot(page, "answer-negation")
    answers = [result["rank"] for result in described["results"] if result["answers"]]
    near = [result["rank"] for result in described["results"] if not result["answers"]]
    assert answers
    assert len(near) > 5

    def ranks(part: str) -> list[int]:
        return [int(rank) for rank in page.locator(f"{part} > .result .rank").all_inner_texts()]

    assert ranks(".found > .results") == answers
    assert ranks("#near > .results") == near[:5]
    expect(page.get_by_role("heading", name="Close, but no answer")).to_be_visible()
    # An answer shows the conditions that it meets, a near one says in a sentence what it meets and what not.
    assert page.locator(".found > .results .conditions .not_met").count() == 0
    assert page.locator(".found > .results .conditions .met").count() >= 2 * len(answers)
    assert page.locator("#near .conditions, #near .tick").count() == 0
    expect(page.locator("#near > .results .near-why")).to_have_count(5)
    expect(page.locator("#near .near-why").filter(has_text="Excluded by the question.").first).to_be_attached()
    page.get_by_text(f"{len(near) - 5} more that are close").click()
    assert ranks("#near .nearer .results") == near[5:]


def test_an_order_shows_its_values_and_which_places_are_shared(page: Page, show: Callable[..., dict[str, Any]]) -> None:
    described = show(BRANDS, "Which brand makes most?")
    shoot(page, "answer-order")
    placed = [result["evidence"]["order"] for result in described["results"]]
    shown = page.locator(".result .ordered").all_inner_texts()
    open_understood(page)
    assert len(shown) == len(placed)
    for text, one in zip(shown, placed, strict=True):
        assert text.startswith(f"makes {one['value']} place {one['place']}")
        shared = sum(other["place"] == one["place"] for other in placed) > 1
        assert text.endswith("shared") == shared
    press(page, "Turn round: order")
    expect(page.locator(".chips .order")).to_contain_text("lowest number of")
    press(page, "Take away: order")
    expect(page.locator(".chips .order")).to_have_count(0)


def test_every_answer_can_be_reached_by_pages_and_in_one_table(page: Page, show: Callable[..., dict[str, Any]]) -> None:
    count = show(SINCE_2015)["answer"]["count"]
    assert count > 100
    page.get_by_role("link", name=f"All {count} answers").click()
    names: list[str] = []
    while True:
        names += page.locator(".listed a").evaluate_all("(all) => all.map((one) => one.href)")
        if not page.get_by_role("link", name="Next").count():
            break
        page.get_by_role("link", name="Next").click()
    assert len(names) == len(set(names)) == count
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of all answers").click()
    table = Path(download.value.path()).read_text(encoding="utf-8-sig")
    assert table.count("\n") >= count + 1


def test_a_facet_narrows_the_answers_by_keys_alone_and_can_be_taken_away(
    page: Page, show: Callable[..., dict[str, Any]]
) -> None:
    count = show(SINCE_2015, "What came out since 2015?")["answer"]["count"]
    shoot(page, "answer-facets")
    assert 1 <= page.locator(".facet").count() <= 4
    open_understood(page)
    first = page.locator(".facet").first.get_by_role("button").first
    label = first.locator("span").first.inner_text()
    left = int(first.locator(".n").inner_text().strip(" ,\n"))
    before = page.url
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != before)
    finished(page)
    expect(page.locator("#state")).to_contain_text(re.compile(f"^{counted(left, 'products')}"))
    added = page.locator(".chips .filter").last
    expect(added).to_contain_text(label.split(" – ")[0])
    added.get_by_role("button").focus()
    narrowed = page.url
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != narrowed)
    finished(page)
    expect(page.locator("#state")).to_contain_text(f"{count} products")


def test_what_was_not_understood_stands_word_by_word(page: Page) -> None:
    asked = {"knowledge_base": "products", "question": "Which quorvex zumpty products did Ingunn Aas design?"}
    described = page.request.post("/api/v1/searches/?wait=30", data=asked).json()
    page.goto(f"/search/{described['id']}/")
    expect(page.locator("#because")).to_have_text(
        "We are not sure, because “quorvex” and “zumpty” could not be checked."
    )
    page.get_by_role("button", name="Ignore “quorvex” and “zumpty”").click()
    expect(page.locator("#because")).to_have_text("Sure: this meaning was chosen, and all of it was checked.")


def test_answers_have_no_fault_at_any_width(
    open_page: Callable[..., Page], show: Callable[..., dict[str, Any]]
) -> None:
    plans = {
        "facets": SINCE_2015, "negation": OSTERVIK | {"exclude": [NOT_STEEL]}, "order": BRANDS,
        "count": CHEAP | {"ask": "how many"}, "whether": OSTERVIK | {"ask": "whether"},
    }  # fmt: skip
    shown = {name: show(plan)["id"] for name, plan in plans.items()}
    checked = open_page("/", viewport={"width": 360, "height": 740}, color_scheme="light", bypass_csp=True)
    found: dict[str, list[str]] = {}
    for name, run_id in shown.items():
        for path in (f"/search/{run_id}/", f"/search/{run_id}/answers/"):
            checked.goto(path)
            for width in (360, 1280):
                checked.set_viewport_size({"width": width, "height": 740})
                wider = checked.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                faults = [*violations(checked), *faint_in_dark(checked), *([f"wider by {wider}"] if wider > 0 else [])]
                found |= {f"{name} {path[-9:]} {width}": faults} if faults else {}
    assert found == {}


def test_a_plan_is_built_of_a_comparison_an_exclusion_and_an_inserted_hop_by_keys(
    page: Page, show: Callable[..., dict[str, Any]]
) -> None:
    def key(button: str, **more: Any) -> None:
        page.get_by_role("button", name=button, **more).first.focus()
        page.keyboard.press("Enter")

    show(OSTERVIK)
    open_understood(page)
    page.locator(".plan-head").get_by_role("link", name="Change it").click()
    key("+ comparison")
    other = page.get_by_role("textbox", name="Entity 2")
    other.fill("Isvidde Flask 0.5 L")
    other.press("Tab")
    expect(page.get_by_label("Compared with, condition 1")).to_have_value('{"var": "a1", "field": "price"}')
    key("+ exclusion")
    page.get_by_label("Relation, exclusion 1").select_option("out MADE_OF")
    expect(page.get_by_label("Type, exclusion 1")).to_be_visible()
    key("Insert a step after relation 1")
    expect(page.get_by_label("Relation 2")).to_be_visible()
    key("Drop relation 2")
    expect(page.get_by_label("Relation 2")).to_have_count(0)
    key("+ relation")
    page.get_by_label("Relation 2").select_option("out DESIGNED_BY")
    expect(page.locator("#do-exclude-hop-1")).to_have_text("not: exclude relation 2")
    key("exclude relation 2")
    expect(page.get_by_label("Relation, exclusion 2")).to_be_visible()
    expect(page.locator("#verdict")).to_contain_text("It can run.")
    shoot(page, "plan-editing")
    before = page.url
    key("Run again with this plan")
    page.wait_for_url(lambda url: url != before and "/plan/" not in url)
    finished(page)
    plan = page.request.get(page.url.replace("/search/", "/api/v1/searches/")).json()["plan"]
    assert [one["value"] for one in plan["filters"]] == [{"var": "a1", "field": "price"}]
    assert [one["hops"][0]["rel"] for one in plan["exclude"]] == ["MADE_OF", "DESIGNED_BY"]
    assert json.dumps(plan["exclude"]).count('"anchors": []') == 2
