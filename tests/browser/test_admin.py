"""The admin: it looks like the site, says what to do where nothing is, and no page is wider than a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import KEEPER
from tests.browser.test_everybody import OVERFLOWING

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 844}
LOOK = """() => [['body', 'fontFamily'], ['body', 'backgroundColor'], ['button.primary', 'fontFamily'],
  ['button.primary', 'backgroundColor'], ['button.primary', 'color'], ['button.primary', 'fontWeight'],
].map(([where, what]) => `${where} ${what}: ${getComputedStyle(document.querySelector(where))[what]}`)"""
LISTS = ("knowledgebase", "release", "snapshot", "vectorset", "searchrun", "pipelineversion", "artifact", "endpoint")


@pytest.fixture
def phone(open_page: Callable[..., Page]) -> Page:
    """The admin, signed in."""
    page = open_page("/admin/", viewport=PHONE)
    page.get_by_label("Username").fill(KEEPER[0])
    page.get_by_label("Password").fill(KEEPER[1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Asked last")).to_be_visible()
    return page


def test_no_page_of_the_admin_is_wider_than_a_phone(phone: Page) -> None:
    assert phone.evaluate(OVERFLOWING) == 0
    for name in LISTS:
        phone.goto(f"/admin/search/{name}/")
        assert (name, phone.evaluate(OVERFLOWING)) == (name, 0)
        row = phone.locator("#result_list tbody a[href*='/change/']").first
        if row.count():
            row.click()
            expect(phone.locator("h1")).to_be_visible()
            assert (f"{name} row", phone.evaluate(OVERFLOWING)) == (f"{name} row", 0)


def test_a_tick_is_seen(phone: Page) -> None:
    phone.goto("/admin/search/jobschedule/add/?kind=index")
    box = phone.get_by_label("Switched on")
    expect(box).to_be_checked()
    accent = phone.locator("button.primary").evaluate("one => getComputedStyle(one).backgroundColor")
    expect(box).to_have_css("background-color", accent)


def test_an_empty_list_shows_the_command_that_fills_it(phone: Page) -> None:
    phone.goto("/admin/search/apitoken/")

    expect(phone.get_by_role("heading", name="No API tokens yet")).to_be_visible()
    expect(phone.get_by_text("manage.py create_token USERNAME")).to_be_visible()
    expect(phone.get_by_text("0 results")).to_have_count(0)


def test_an_icon_never_shows_as_a_word(open_page: Callable[..., Page], keeper: dict[str, object]) -> None:
    page = open_page("/admin/", viewport=DESK, storage_state=keeper)
    icon = page.get_by_text("play_circle", exact=True)
    expect(icon).to_be_visible()

    page.route("**/Material-Symbols*", lambda route: route.abort())
    page.goto("/admin/search/job/")
    expect(page.get_by_role("link", name="Jobs").first).to_be_visible()
    page.wait_for_function("document.fonts.status === 'loaded'")
    expect(icon).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_and_the_admin_look_alike(
    open_page: Callable[..., Page], keeper: dict[str, object], scheme: str
) -> None:
    looks = []
    for path in ("/", "/admin/search/job/launch/?kind=index"):
        page = open_page(path, viewport=DESK, storage_state=keeper, color_scheme=scheme)
        expect(page.locator("button.primary")).to_have_count(1)
        looks.append(page.evaluate(LOOK))
    assert looks[0] == looks[1]
