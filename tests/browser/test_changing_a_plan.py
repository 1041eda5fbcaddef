"""The plan on the page is changed chip by chip, with the mouse, with keys alone, on a phone and without scripts."""

import json
from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.asking import ask, finished, open_understood
from tests.browser.test_everybody import FAINT_TEXT, FAULTS_OF_STRUCTURE, OVERFLOWING, SCREENS

pytestmark = pytest.mark.browser


OFFERED = [
    ("kostova", "Mirela Kostova designer"),
    ("stove", "Glöd Twig Stove product"),
    ("vardo", "Vardø Lantern product"),
    ("creme", "Ramequins Crème, Set of 4 product"),
]
"""What somebody types, and what has to be among the entities to pick from."""


def opened(page: Page) -> None:
    """Ask, and open the best plan to change it."""
    ask(page)
    open_understood(page)
    page.locator(".plan-head").get_by_role("link", name="Change it").click()
    expect(page.get_by_role("heading", name="Change the plan")).to_be_focused()


def run_again(page: Page) -> None:
    before = page.url
    page.get_by_role("button", name="Run again with this plan").click()
    page.wait_for_url(lambda url: url != before and "/plan/" not in url)
    finished(page)
    expect(page.locator(".given").first).to_contain_text("given with the question: no planner chose it")


def test_another_entity_is_picked_and_the_plan_runs_without_a_planner(page: Page) -> None:
    opened(page)
    first = page.url
    entity = page.get_by_role("textbox", name="Entity 1")
    entity.fill("")
    entity.press_sequentially("soren")
    expect(page.locator("#found-0")).to_contain_text("No name has a word that begins so.")
    entity.fill("")
    entity.press_sequentially("mirela")
    page.get_by_role("button", name="Mirela Kostova designer").click()
    expect(entity).to_have_value("Mirela Kostova")
    expect(page.locator(".chip.anchor").first).to_contain_text("tied to the graph")
    run_again(page)

    assert page.url != first
    expect(page.locator(".plan .chain, .plan .chip-name").first).to_contain_text("Mirela Kostova")
    plan = page.request.get(page.url.replace("/search/", "/api/v1/searches/")).json()["plans"]
    assert [entry["source"] for entry in plan] == ["user"]
    assert plan[0]["plan"]["anchors"][0]["text"] == "Mirela Kostova"
    assert len(plan[0]["plan"]["anchors"][0]["ids"]) == 1


def test_entities_are_found_by_any_word_of_their_name_and_without_its_accents(page: Page) -> None:
    opened(page)
    entity = page.get_by_role("textbox", name="Entity 1")
    for typed, offered in OFFERED:
        entity.fill("")
        entity.press_sequentially(typed)
        expect(page.get_by_role("button", name=offered)).to_be_visible()
    page.get_by_role("button", name="Ramequins Crème, Set of 4 product").click()
    expect(entity).to_have_value("Ramequins Crème, Set of 4")


def test_a_hop_is_dropped_a_condition_added_and_the_rest_is_kept(page: Page) -> None:
    opened(page)
    page.get_by_label("about").fill("keeps drinks hot")
    page.get_by_role("button", name="Drop relation 2").click()
    expect(page.locator(".editor .chip.anchor")).to_have_count(1)
    expect(page.get_by_label("about")).to_have_value("keeps drinks hot")
    page.get_by_role("button", name="+ condition").click()
    page.get_by_label("Field, condition 1", exact=True).select_option("price")
    page.get_by_label("Comparison, condition 1").select_option("between")
    page.get_by_label("Lowest value, condition 1").fill("10")
    page.get_by_label("Highest value, condition 1").fill("60")
    run_again(page)

    expect(page.locator(".plan .facts").first).to_contain_text("price between 10 and 60")
    expect(page.locator(".plan .facts").first).to_contain_text("keeps drinks hot")


def test_a_wrong_edit_shows_its_fault_beside_the_chip_and_loses_nothing(page: Page) -> None:
    opened(page)
    page.get_by_label("about").fill("for winter")
    kind = page.get_by_role("combobox", name="Type of entity 2")
    kind.focus()
    kind.select_option("designer")
    fault = page.locator("#hop-1-faults")
    expect(fault).to_contain_text("HAS_BRAND does not lead from designer to product")
    expect(page.get_by_label("Relation 2")).to_have_attribute("aria-describedby", "hop-1-faults")
    expect(kind).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="before it can run")).to_be_visible()

    page.get_by_role("button", name="Run again with this plan").click()
    expect(fault).to_be_visible()
    expect(page.get_by_label("about")).to_have_value("for winter")
    page.get_by_label("Relation 2").select_option("in DESIGNED_BY")
    expect(fault).to_have_count(0)
    expect(page.locator("#verdict")).to_contain_text("It can run.")


def test_a_second_plan_can_be_taken_instead(page: Page) -> None:
    ask(page)
    open_understood(page)
    page.get_by_text("other plan").first.click()
    page.locator(".others").get_by_role("link", name="Change it").first.click()
    expect(page.get_by_role("heading", name="Change the plan")).to_be_visible()
    run_again(page)


def asked_of(requests: list[Request]) -> list[str]:
    """Return what each form that was sent asks for, "check" if only to look the plan over; names are not counted."""
    bodies = [parse_qs(one.post_data or "") for one in requests if one.method == "POST" and "/plan/" in one.url]
    asked = [body.get("do", ["check"])[0].partition(" ")[0] for body in bodies]
    return [one for one in asked if one != "look"]


def test_a_plan_is_changed_with_keys_alone(page: Page) -> None:
    opened(page)
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))
    entity = page.get_by_role("textbox", name="Entity 2")
    entity.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("halv")
    offer = page.locator("#found-1 .offer").first
    expect(offer).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(offer).to_be_focused()
    page.keyboard.press("Escape")
    expect(offer).to_have_count(0)
    expect(entity).to_be_focused()
    page.keyboard.press("Backspace")
    expect(offer).to_be_visible()
    offered = offer.evaluate("(e) => e.firstChild.textContent.trim()")
    page.keyboard.press("ArrowDown")
    expect(offer).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Entity 2")).to_have_value(offered)
    page.get_by_role("button", name="Run again with this plan").focus()
    page.keyboard.press("Enter")
    finished(page)
    expect(page.locator(".given").first).to_be_visible()
    # The names that went away with the focus on them were not left by anybody: nothing but the pick was sent.
    assert asked_of(requests) == ["pick", "ask"]


def test_a_plan_is_changed_without_scripts(open_page: Callable[..., Page]) -> None:
    page = open_page("/", java_script_enabled=False)
    ask(page)
    open_understood(page)
    page.locator(".plan-head").get_by_role("link", name="Change it").click()
    page.get_by_role("textbox", name="Entity 1").fill("jarl w")
    page.get_by_role("button", name="Find").first.click()
    page.get_by_role("button", name="Jarl Wennerholt designer").click()
    expect(page.get_by_role("textbox", name="Entity 1")).to_have_value("Jarl Wennerholt")
    page.get_by_role("button", name="Run again with this plan").click()
    finished(page)
    open_understood(page)
    expect(page.locator(".given").first).to_be_visible()


def test_the_plan_can_still_be_written_as_json(page: Page) -> None:
    opened(page)
    page.goto(page.url + "plan/")
    page.get_by_text("The same as JSON").click()
    text = page.get_by_label("Plan (JSON)")
    plan = json.loads(text.input_value())
    plan["target"]["relevance_text"] = "written by hand"
    text.fill(json.dumps(plan))
    page.get_by_role("button", name="Ask with this plan").click()
    finished(page)
    expect(page.locator(".plan .facts").first).to_contain_text("written by hand")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_the_form_with_faults_is_well_formed_legible_and_no_wider_than_the_screen(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = open_page("/", viewport={"width": width, "height": 844}, color_scheme=scheme)
    opened(page)
    page.get_by_role("button", name="+ condition").click()
    page.get_by_label("Value, condition 1", exact=True).fill("cheap")
    page.get_by_role("combobox", name="Type of entity 2").select_option("designer")
    expect(page.locator("#hop-1-faults")).to_be_visible()
    page.get_by_role("textbox", name="Entity 1").fill("ing")
    expect(page.locator("#found-0 .offer").first).to_be_visible()

    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate(OVERFLOWING) == 0


OF_THE_OLDEST = {
    "anchors": [{"var": "b", "plan": {"target": {"var": "B", "labels": ["brand"]},
                                      "order": {"by": {"field": "founded"}, "direction": "asc", "limit": 1}}}],
    "hops": [{"from": "T", "rel": "HAS_BRAND", "to_var": "b"}],
    "target": {"var": "T", "labels": ["product"]}, "ask": "mean", "show": "price",
}  # fmt: skip


def test_the_plan_inside_an_entity_opens_in_the_same_form_and_goes_back_into_the_whole_plan(page: Page) -> None:
    request = {"knowledge_base": "products", "question": "Average price at the oldest brand?", "plan": OF_THE_OLDEST}
    asked = page.request.post("/api/v1/searches/?wait=30", data=request)
    assert asked.ok, asked.text()
    computed = asked.json()["answer"]["aggregate"]
    page.goto(f"/search/{asked.json()['id']}/")
    finished(page)
    expect(page.locator("#state")).to_contain_text(f"{computed['value']:.6g}"[:4])
    expect(page.locator("#state")).to_contain_text("the mean price of")
    expect(page.locator(".plan .chip.anchor").first).to_contain_text("the brand with the lowest founded:")
    open_understood(page)
    page.locator(".plan-head").get_by_role("link", name="Change it").click()
    expect(page.get_by_label("asks")).to_have_value("mean show price")

    page.get_by_role("button", name="found by a plan of its own").click()
    expect(page.get_by_role("heading", name="What is meant by “brand with the lowest founded”")).to_be_visible()
    expect(page.get_by_label("asks")).to_have_count(0)
    page.get_by_label("What comes first").select_option("desc")
    page.get_by_role("button", name="Take it into the whole plan").click()
    expect(page.get_by_role("textbox", name="Entity 1")).to_have_value("brand with the highest founded")
    run_again(page)
    found = page.request.get(page.url.replace("/search/", "/api/v1/searches/")).json()
    assert found["plan"]["anchors"][0]["plan"]["order"]["direction"] == "desc"
    assert (found["plan"]["ask"], found["answer"]["kind"]) == ("mean", "aggregate")
