"""Judging in real browsers: three people whose network is cut at random, keys, drafts, two tabs, and how it looks."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.annotators import enter, work
from tests.browser.conftest import Site
from tests.browser.test_every_page import DESK, PHONE, faults_of
from tests.browser.test_feedback import shot

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
NAMES = ("ann", "ben", "cem")
SETUP = """
from search.models import KnowledgeBase
from tests.training.annotating import annotators, node_queue
annotators({names!r})
base = KnowledgeBase.objects.get(name="products")
print("QUEUE", node_queue(base, {items}, {overlap}, {name!r}).pk)
"""
RESULT = """
import json
from tests.training.annotating import differences
from training.models import AnnotationQueue
said = {{name: {{int(item): key for item, key in keys.items()}} for name, keys in json.loads({said!r}).items()}}
print("RESULT", json.dumps(differences(AnnotationQueue.objects.get(pk={queue}), said)))
"""


def queue_of(site: Site, name: str, items: int, overlap: int) -> int:
    code = SETUP.format(names=NAMES, items=items, overlap=overlap, name=name)
    return int(site.manage("shell", "-c", code).split("QUEUE")[1])


def result(site: Site, queue: int, said: dict[str, dict[int, str]]) -> dict[str, int]:
    told = site.manage("shell", "-c", RESULT.format(said=json.dumps(said), queue=queue))
    return json.loads(told.split("RESULT")[1])


@pytest.fixture
def people(chromium: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Yield a function that signs somebody in, in a browser of their own, and opens an address."""
    entered = []

    def signed_in(name: str, address: str, **options: object) -> Page:
        page = chromium.new_context(base_url=site.url, **options).new_page()
        entered.append(page.context)
        page.goto(f"/account/sign-in/?next={address}")
        page.locator("input[name=username]").fill(name)
        page.locator("input[name=password]").fill(name)
        page.locator("input[name=password]").press("Enter")
        page.wait_for_url(f"**{address}")
        return page

    yield signed_in
    for context in entered:
        context.close()


def ready(page: Page) -> str:
    """Wait for an item, and return its id."""
    expect(page.locator("main")).to_have_attribute("data-state", "ready")
    return page.locator("main").get_attribute("data-item") or ""


def test_three_people_with_a_failing_network_lose_and_double_nothing(chromium: Browser, site: Site) -> None:
    queue = queue_of(site, "a failing network", 24, 2)
    address = f"/annotate/{queue}/"
    working = [enter(chromium, site.url, name, name, address, seed) for seed, name in enumerate(NAMES)]
    try:
        work(working, queue, 2_000)
        told = result(site, queue, {one.name: one.said for one in working})
    finally:
        for one in working:
            one.context.close()
    assert all(one.cuts for one in working)
    wrong = {name: told[name] for name in ("lost", "wrong", "unsaid", "doubled", "short")}
    assert wrong == dict.fromkeys(wrong, 0), told


def test_judging_goes_on_without_network_and_a_closed_browser_keeps_draft_and_judgements(
    site: Site, people: Callable[..., Page]
) -> None:
    queue = queue_of(site, "closed in mid-judgement", 6, 1)
    address = f"/annotate/{queue}/"
    page = people("ann", address)
    context = page.context
    first = ready(page)
    context.set_offline(True)
    page.keyboard.press("3")
    expect(page.locator("main")).not_to_have_attribute("data-item", first)
    second = ready(page)
    expect(page.locator("#unsent")).to_have_text("1 not sent yet")
    page.keyboard.press("n")
    page.keyboard.type("half a though")
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(address)
    assert ready(page) == second
    expect(page.get_by_label("Note")).to_have_value("half a though")
    expect(page.locator("#unsent")).to_have_text("All sent")
    page.get_by_label("Note").press("End")
    page.keyboard.type("t")
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    expect(page.locator("#last-text")).to_contain_text("grade 0")
    page.keyboard.press("z")
    assert ready(page) != ""
    expect(page.locator("main")).to_have_attribute("data-item", second)
    expect(page.get_by_label("Note")).to_have_value("half a thought")
    page.keyboard.press("1")
    expect(page.locator("#last-text")).to_contain_text("grade 1")
    expect(page.locator("#unsent")).to_have_text("All sent")
    assert result(site, queue, {"ann": {int(first): "3", int(second): "1"}})["wrong"] == 0


def test_an_undone_item_stays_when_an_earlier_look_at_the_store_comes_late(
    site: Site, people: Callable[..., Page]
) -> None:
    page = people("ann", f"/annotate/{queue_of(site, 'undone beside a late look', 6, 1)}/")
    first = ready(page)
    page.keyboard.press("3")
    expect(page.locator("main")).not_to_have_attribute("data-item", first)
    ready(page)
    page.evaluate(
        """async () => {
          const all = state.store.all.bind(state.store);
          let looked, goOn;
          const hasLooked = new Promise((resolve) => { looked = resolve; });
          const late = new Promise((resolve) => { goOn = resolve; });
          state.store.all = async (name) => {
            const rows = await all(name);
            if (name === "items" && looked) { looked(); looked = null; await late; }
            return rows;
          };
          const early = show();
          await hasLooked;
          await undo();
          goOn();
          await early;
        }"""
    )
    assert ready(page) == first


def test_two_tabs_get_different_items_and_a_conflict_from_elsewhere_is_a_question(
    site: Site, people: Callable[..., Page]
) -> None:
    queue = queue_of(site, "two tabs", 20, 1)
    address = f"/annotate/{queue}/"
    one = people("ben", address)
    item = ready(one)
    two = one.context.new_page()
    two.goto(address)
    assert ready(two) != item
    # Another browser of the same person takes the item over and judges it while the first one is cut off.
    one.context.set_offline(True)
    one.keyboard.press("n")
    one.keyboard.type("typed here")
    one.keyboard.press("Escape")
    one.keyboard.press("0")
    expect(one.locator("#unsent")).to_have_text("1 not sent yet")
    judged = f"""async () => {{
      const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
      const body = {{ key: crypto.randomUUID(), item: {item}, base: 0, verdict: "graded", grade: 3,
        note: "typed there" }};
      const headers = {{ "Content-Type": "application/json", "X-CSRFToken": token }};
      return (await fetch("/api/v1/annotation/judgements/",
        {{ method: "POST", headers, body: JSON.stringify(body) }})).status;
    }}"""
    elsewhere = people("ben", address)
    assert elsewhere.evaluate(judged) == 201
    one.context.set_offline(False)
    expect(one.get_by_role("alert")).to_contain_text("You judged this item in another tab or browser at")
    expect(one.get_by_role("alert")).to_contain_text("Nothing was changed")
    for said in ("Your note here: “typed here”", "The note stored there: “typed there”", "both notes are kept"):
        expect(one.get_by_role("alert")).to_contain_text(said)
    assert result(site, queue, {"ben": {int(item): "3"}})["wrong"] == 0
    one.get_by_role("button", name="Put this one in its place").click()
    expect(one.locator("#unsent")).to_have_text("All sent")
    assert result(site, queue, {"ben": {int(item): "0"}})["wrong"] == 0
    # The note of the other browser was not replaced: both are kept, the earlier one first.
    stored = one.evaluate(f"""async () => {{
      const answer = await fetch("/api/v1/annotation/queues/{queue}/judgements/");
      return (await answer.json()).results.find((one) => one.item === {item}).note;
    }}""")
    assert stored == "typed there\ntyped here"


def test_the_pages_have_no_fault_and_work_without_a_mouse(
    site: Site, people: Callable[..., Page], tmp_path: Path
) -> None:
    queue = queue_of(site, "looked at", 5, 2)
    page = people("cem", f"/annotate/{queue}/", color_scheme="light", viewport=DESK, bypass_csp=True)
    ready(page)
    page.keyboard.press("e")
    page.keyboard.type("Borosil")
    expect(page.locator("#expected-found li").first).to_contain_text("Borosilicate Glass")
    page.keyboard.press("Enter")
    expect(page.locator("#expected")).to_contain_text("Borosilicate Glass")
    page.keyboard.press("Escape")
    found = {"judging": faults_of(page)}
    shot(page, "judging")
    page.keyboard.press("u")
    expect(page.locator("#last-text")).to_contain_text("unsure")
    expect(page.locator("#unsent")).to_have_text("All sent")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Grade what the question asks")
    found["help"] = faults_of(page)
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.get_by_role("dialog")).to_contain_text("Nobody else has judged it yet.")
    page.keyboard.press("Escape")
    page.set_viewport_size(PHONE)
    shot(page, "judging-phone")
    for path in ("/annotate/", f"/annotate/{queue}/guideline/"):
        page.goto(path)
        found[path] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_the_form_of_a_queue_shows_what_its_rule_takes(open_page: OpenPage, keeper: dict[str, object]) -> None:
    page = open_page("/admin/training/annotationqueue/add/", storage_state=keeper)
    taken = {
        "lost": {"evaluations", "pipelines", "stages", "depth", "per_question"},
        "feedback": {"kinds", "per_question"},
        "margin": {"evaluations", "pipelines", "margin"},
    }
    every = ("evaluations", "pipelines", "searches", "stages", "kinds", "depth", "per_question", "margin")
    for rule, names in taken.items():
        page.locator("select[name=rule]").select_option(rule)
        for name in every:
            expect(page.locator(f"[name={name}]")).to_be_visible(visible=name in names)
    # What was filled in for another rule is not sent, where it would be refused.
    page.locator("[name=margin]").fill("0.2")
    page.locator("select[name=rule]").select_option("feedback")
    page.get_by_role("button", name="Count", exact=True).click()
    expect(page.get_by_text("takes no")).to_have_count(0)
    expect(page.locator("select[name=rule]")).to_have_value("feedback")


def test_pasted_questions_are_searched_judged_by_key_and_counted_with_the_ticks_behind_the_grade(
    site: Site, people: Callable[..., Page], open_page: OpenPage, keeper: dict[str, object]
) -> None:
    queue_of(site, "makes the accounts", 1, 1)
    page = open_page("/admin/training/annotationqueue/add/", storage_state=keeper)
    page.locator("select[name=rule]").select_option("tasks")
    page.get_by_label("Name").fill("Pasted questions")
    page.locator("[name=knowledge_base]").select_option("products")
    page.locator("[name=tasks]").fill("Who designed the Vicarage Bench?\n\tno question\n")
    page.locator("[name=overlap]").fill("1")
    page.get_by_role("button", name="Make the queue").click()
    expect(page.get_by_text("Line 2: it has no question.")).to_be_visible()
    page.locator("[name=tasks]").fill("Who designed the Vicarage Bench?")
    page.get_by_role("button", name="Make the queue").click()
    page.wait_for_url("**/annotate/#queue*")
    number = page.url.split("#queue")[1]
    row = page.locator(f"#queue{number}")
    # The list follows the search of the question, and the counts, without being opened again.
    expect(row).to_contain_text("0 of 5 graded", timeout=60_000)
    expect(row.locator(".ann-filling")).to_have_count(0)
    judging = people("ann", f"/annotate/{number}/", viewport=DESK, bypass_csp=True)
    first = ready(judging)
    expect(judging.locator("#progress-text")).to_have_text("0 of 5 graded · you graded 0 · 5 left for you")
    expect(judging.locator("#evidence")).to_be_hidden()
    assert judging.locator(".tick").count() == 0
    for grade in "0123":
        expect(judging.locator(f"[data-grade='{grade}'] kbd")).to_have_text(grade)
    judging.keyboard.press("2")
    expect(judging.locator("main")).not_to_have_attribute("data-item", first)
    expect(judging.locator("#last-text")).to_contain_text("grade 2")
    expect(judging.locator("#evidence .tick").first).to_be_visible()
    expect(judging.locator("#progress-text")).to_have_text("1 of 5 graded · you graded 1 · 4 left for you")
    assert faults_of(judging) == []
    shot(judging, "judged")
    judging.set_viewport_size(PHONE)
    shot(judging, "judged-phone")
    expect(row).to_contain_text("1 of 5 graded", timeout=30_000)
    # The rest is shared out: ann keeps what she judged and gets a share of the others.
    page.goto(f"/annotate/{number}/people/")
    for name in ("ann", "ben"):
        page.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Share out evenly").click()
    expect(page.get_by_text("The items are shared out among 2 people.")).to_be_visible()
    for name, assigned, graded, left in (("ann", 3, 1, 2), ("ben", 2, 0, 2)):
        cells = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True)).locator("td")
        expect(cells.nth(0)).to_have_text(str(assigned))
        expect(cells.nth(1)).to_have_text(str(graded))
        expect(cells.nth(4)).to_have_text(str(left))
    shot(page, "people")
