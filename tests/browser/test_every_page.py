"""Every page in every state, light and dark, on a phone and on a desk: nothing that axe finds, nothing too wide."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import QUESTION, ask, finished, open_details, open_understood
from tests.browser.axe import faint_in_dark, violations
from tests.browser.conftest import PRODUCTS, Site
from tests.browser.unwieldy import LONG_ID, NAME, write_bundle
from tests.browser.unwieldy import QUESTION as LONG_QUESTION

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 844}

PAGES = [
    "/", f"/?kb={NAME}", "/status/", "/nothing/", "/settings/",
    "/kb/products/nodes/designer:ingunn-aas/", "/kb/products/nodes/TH-101/", f"/kb/{NAME}/nodes/{LONG_ID}/",
    "/kb/products/settings/", f"/kb/{NAME}/settings/", "/kb/products/explore/?id=designer%3Aingunn-aas",
    f"/kb/{NAME}/explore/?id={LONG_ID}",
]  # fmt: skip
# The viewer at /api/docs/ is left out: Swagger UI draws all of it, and nothing there is ours but the texts.
ADMIN = [
    "/admin/", "/admin/search/searchrun/services/", "/admin/password_change/", "/admin/search/endpoint/prompt/",
    "/admin/search/knowledgebase/import/", "/admin/search/endpoint/environment/",
    "/admin/search/endpoint/add/", "/admin/auth/user/add/",
    "/admin/auth/group/add/", "/admin/search/apitoken/add/", "/admin/search/job/launch/",
    "/admin/search/job/launch/?kind=index", "/admin/search/job/launch/?kind=evaluate", "/admin/search/jobschedule/add/",
    "/admin/training/questionset/add/", "/admin/training/questionset/from-feedback/",
]  # fmt: skip
LISTS = [
    "search/knowledgebase", "search/release", "search/snapshot", "search/vectorset", "search/searchrun",
    "search/pipelineversion", "search/artifact", "search/endpoint", "search/languagemodelcall", "search/backuprun",
    "search/serverfolder", "search/auditentry", "auth/user",
    "auth/group", "search/apitoken", "search/job", "search/jobschedule", "search/feedback", "training/evaluation",
    "training/question", "training/questionset",
]  # fmt: skip
IMPOSSIBLE_PLAN = {
    "anchors": [
        {"var": "A1", "text": "Ingunn Aas", "label": "designer", "match_mode": "name"},
        {"var": "A2", "text": "Tarnhollow", "label": "brand", "match_mode": "name"},
    ],
    "hops": [
        {"from": "A1", "rel": "DESIGNED_BY", "to_var": "T", "to_label": "product", "direction": "in"},
        {"from": "A2", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": "in"},
    ],
    "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
    "filters": [],
    "risk_level": "normal",
}

TOO_WIDE = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
SCROLLING_SIDEWAYS = """() => [...document.querySelectorAll('main *')].filter((e) => {
  const scrolls = ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  return scrolls && e.checkVisibility() && e.scrollWidth > e.clientWidth + 1;
}).map((e) => e.tagName + '.' + e.className + ' by ' + (e.scrollWidth - e.clientWidth))"""
CROWDED_DRAWINGS = """() => {
  const faults = [];
  for (const svg of document.querySelectorAll('.drawing svg')) {
    if (!svg.checkVisibility()) continue;
    const whole = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((e) => [e, e.getBoundingClientRect()]);
    for (const [e, r] of texts) {
      const room = (e.closest('a') ? e.closest('a').querySelector('rect') : svg).getBoundingClientRect();
      if (r.left < room.left - 1 || r.right > room.right + 1) faults.push('sticks out: ' + e.textContent);
      for (const [other, o] of texts) {
        const apart = r.right <= o.left + 1 || o.right <= r.left + 1 || r.bottom <= o.top + 3 || o.bottom <= r.top + 3;
        if (other !== e && !apart) faults.push('overlaps: ' + e.textContent + ' / ' + other.textContent);
      }
    }
    if (whole.right > innerWidth + 1) faults.push('wider than the page');
  }
  return faults;
}"""


@pytest.fixture(scope="session")
def unwieldy(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A knowledge base with names that do not fit, beside the products."""
    site.manage("import_kb", str(write_bundle(tmp_path_factory.mktemp("unwieldy"))), "--json")


@pytest.fixture(scope="session")
def evaluations(site: Site, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The ids of two evaluations on the same questions, and a job, a question set and its questions beside them."""
    folder = tmp_path_factory.mktemp("evaluated")
    asked = ["--questions", str(PRODUCTS / "questions.jsonl"), "--limit", "6", "--pipeline", "ppr", "--json"]
    made = []
    for name, more in (("one", ["--pipeline", "bm25"]), ("other", [])):
        said = site.manage("evaluate", "products", *asked, *more, "--output", str(folder / name))
        made.append(str(json.loads(said)["evaluation"]))
    return made


@pytest.fixture(scope="session")
def artifact(site: Site) -> str:
    """The id of an artifact that a training of everything has made, with the job, and a version that nothing uses."""
    said = site.manage(
        "train", "all", "products", "--questions", str(PRODUCTS / "questions.jsonl"), "--split", "val",
        "--allow-val", "--learners", "planner", "--no-activate", "--json",
    )  # fmt: skip
    return str(json.loads(said)["artifacts"]["planner"])


OpenPage = Callable[..., Page]


@pytest.fixture
def open_checked(open_page: OpenPage, keeper: dict[str, object]) -> OpenPage:
    """Opens pages as a keeper, on a phone; axe has to be let in past the content security policy."""

    def opened(path: str, **options: object) -> Page:
        return open_page(
            path, **{"viewport": PHONE, "storage_state": keeper, "bypass_csp": True, "color_scheme": "light", **options}
        )

    return opened


def faults_of(page: Page) -> list[str]:
    """Return everything wrong with the page at both widths and in both themes.

    Colours are looked at in both themes at both widths, all else once at each width.
    """
    found = []
    for viewport in (PHONE, DESK):
        page.set_viewport_size(viewport)
        said = [*violations(page), *faint_in_dark(page), *page.evaluate(CROWDED_DRAWINGS)]
        if page.evaluate(TOO_WIDE) > 0:
            said.append(f"wider than the screen by {page.evaluate(TOO_WIDE)}")
        if viewport is PHONE and "/admin/" not in page.url:
            said += page.evaluate(SCROLLING_SIDEWAYS)
        found += [f"{viewport['width']}: {fault}" for fault in said]
    return found


@pytest.mark.usefixtures("unwieldy")
def test_pages_without_a_search_have_no_fault(open_checked: OpenPage) -> None:
    page = open_checked("/")
    found = {}
    for path in PAGES:
        page.goto(path)
        found[path] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.usefixtures("unwieldy")
@pytest.mark.parametrize(("knowledge_base", "question"), [("products", QUESTION), (NAME, LONG_QUESTION)])
def test_an_answered_search_and_what_it_leads_to_have_no_fault(
    open_checked: OpenPage, knowledge_base: str, question: str
) -> None:
    page = open_checked("/")
    ask(page, question, knowledge_base)
    results = page.url
    found = {}
    for leads_to in ("", "plan/", "trace/", "results/1/why/", "results/1/paths/", "written/"):
        page.goto(results + leads_to)
        open_details(page)
        found[leads_to or "results"] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_a_search_in_every_other_state_has_no_fault(open_checked: OpenPage, site: Site) -> None:
    page = open_checked("/")
    found = {}

    def look(state: str, shows: str) -> None:
        open_details(page)
        expect(page.locator("main")).to_contain_text(shows)
        found[state] = faults_of(page)

    with site.worker_asleep():
        page.get_by_label("Question", exact=True).fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        look("waiting", "Waiting for the search worker")
    page.goto("/")
    ask(page, "a flask that keeps tea hot", pipeline="bm25")
    look("no plan", "This pipeline uses no plan")
    page.goto("/")
    ask(page, "zzzzq xqxqx", pipeline="bm25")
    look("empty", "Nothing found")
    page.goto("/")
    ask(page, "asdf qwer")
    look("nearest", "Nothing in the question names anything here")
    # States that a healthy site does not get into are written into searches that were answered.
    asked = {}
    for state, _, _ in STATES:
        page.goto("/")
        ask(page)
        asked[state] = page.url
    changes = [{**change, "id": asked[state].rstrip("/").split("/")[-1]} for state, change, _ in STATES]
    site.manage("shell", "-v", "0", "-c", _CHANGE.format(changes=json.dumps(changes)))
    for state, _, shows in STATES:
        page.goto(asked[state])
        look(state, shows)
    assert {state: faults for state, faults in found.items() if faults} == {}


_CHANGE = """
import json
from search.models import SearchRun
for change in json.loads({changes!r}):
    run = SearchRun.objects.get(pk=change["id"])
    run.steps.filter(name="retrieve").update(**change["step"])
    SearchRun.objects.filter(pk=run.pk).update(**change["run"])
"""
FAILURE = {
    "title": "Postgres is not reachable", "detail": "connection refused", "stage": "traverse",
    "errors": [{"pointer": "/question", "message": f"{'unbroken' * 40} is not valid"}],
}  # fmt: skip
STATES: list[tuple[str, dict[str, Any], str]] = [
    (
        "degraded",
        {"step": {"status": "degraded", "detail": f"vectors: {'unbroken' * 40}"}, "run": {}},
        "Answered with less than usual.",
    ),
    ("cancelled", {"step": {"status": "ok", "detail": ""}, "run": {"status": "cancelled"}}, "Cancelled."),
    (
        "failed",
        {
            "step": {"status": "failed", "detail": "refused"},
            "run": {"status": "failed", "answer": None, "error": FAILURE},
        },
        "Postgres is not reachable",
    ),
]


def test_a_plan_that_had_to_be_mended_has_no_fault(open_checked: OpenPage) -> None:
    page = open_checked("/")
    ask(page)
    open_understood(page)
    page.get_by_text("Plan as JSON").click()
    page.get_by_text("Change it and ask again").click()
    page.get_by_label("Plan (JSON)").fill(json.dumps(IMPOSSIBLE_PLAN))
    before = page.url
    page.locator(".code-box").get_by_role("button", name="Ask with this plan").click()
    page.wait_for_url(lambda url: url != before)
    finished(page)
    open_details(page)
    expect(page.get_by_text("How this was found")).to_be_visible()

    assert faults_of(page) == []


def test_a_plan_form_with_faults_and_offers_has_no_fault(open_checked: OpenPage) -> None:
    page = open_checked("/")
    ask(page)
    open_understood(page)
    page.locator(".plan-head").get_by_role("link", name="Change it").click()
    page.get_by_role("button", name="+ condition").click()
    page.get_by_label("Value, condition 1", exact=True).fill("cheap")
    page.get_by_role("combobox", name="Type of entity 2").select_option("designer")
    expect(page.locator("#hop-1-faults")).to_be_visible()
    page.get_by_role("textbox", name="Entity 1").fill("ing")
    expect(page.locator("#found-0 .offer").first).to_be_visible()

    assert faults_of(page) == []


def test_evaluations_have_no_fault(open_checked: OpenPage, evaluations: list[str]) -> None:
    one, other = evaluations
    compared = f"/evaluations/compare/?a={one}&b={other}&pipeline_a=bm25&pipeline_b=path"
    page = open_checked("/evaluations/")
    found = {}
    for path in (
        "/evaluations/", f"/evaluations/{one}/?published=prime", f"/evaluations/{one}/questions/",
        "/evaluations/?knowledge_base=none",
        f"/evaluations/{one}/questions/?found=somewhere", f"/evaluations/{one}/questions/0/", "/evaluations/compare/",
        compared, f"{compared}&metric=odd",
    ):  # fmt: skip
        page.goto(path)
        open_details(page)
        found[path] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_importing_questions_has_no_fault(open_checked: OpenPage) -> None:
    page = open_checked("/admin/training/questionset/add/")
    page.locator("select[name=knowledge_base]").select_option("products")
    page.locator("textarea[name=pasted]").fill(f"Who designed TH-101?\tdesigner:ingunn-aas\n{'unbroken' * 30}\tnothing")
    page.locator("main form, #content form").last.locator("[type=submit]").first.click()
    page.wait_for_url("**/preview/**")
    open_details(page)

    assert faults_of(page) == []


@pytest.mark.usefixtures("unwieldy", "evaluations")
def test_the_admin_has_no_fault(open_checked: OpenPage) -> None:
    page = open_checked("/")
    ask(page, LONG_QUESTION, NAME)
    found = {}
    for path in [*ADMIN, *(f"/admin/{name}/" for name in LISTS)]:
        page.goto(path)
        found[path] = faults_of(page)
        row = page.locator("#result_list tbody a[href*='/change/']")
        if path.strip("/").count("/") == 2 and row.count():
            page.goto(str(row.first.get_attribute("href")))
            found[f"{path} change"] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_artifacts_and_their_training_have_no_fault(open_checked: OpenPage, artifact: str) -> None:
    page = open_checked("/admin/search/artifact/")
    found = {"list": faults_of(page)}
    page.get_by_role("link", name=artifact).click()
    expect(page.get_by_role("heading", name="Scorer of plans")).to_be_visible()
    expect(page.get_by_text("its files are those that were registered")).to_be_visible()
    open_details(page)
    found["artifact"] = faults_of(page)
    page.goto(f"/admin/search/artifact/{artifact}/delete/")
    found["delete"] = faults_of(page)
    page.goto("/admin/search/job/?kind__exact=train_all")
    page.locator("#result_list tbody a[href*='/change/']").first.click()
    expect(page.get_by_role("heading", name="What it gained or lost on held-out questions")).to_be_visible()
    expect(page.locator(".heat-maps svg")).to_have_count(2)
    open_details(page)
    found["job"] = faults_of(page)
    for kind in ("train_all", "train_planner", "tune"):
        page.goto(f"/admin/search/job/launch/?kind={kind}")
        found[kind] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_signing_in_has_no_fault(open_checked: OpenPage) -> None:
    page = open_checked("/admin/login/", storage_state=None)
    assert faults_of(page) == []
    page.locator("input[name=username]").fill("nobody")
    page.locator("input[name=password]").fill("wrong")
    page.locator("input[name=password]").press("Enter")
    expect(page.get_by_text("Name and password do not belong together")).to_be_visible()
    assert faults_of(page) == []
