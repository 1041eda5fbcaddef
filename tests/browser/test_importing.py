"""Importing in the browser: from files to an answer, and an upload that breaks off and goes on."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.axe import violations
from tests.browser.conftest import KEEPER
from tests.browser.test_everybody import OVERFLOWING

pytestmark = pytest.mark.browser

IMPORT = "/admin/search/knowledgebase/import/"
FILMS = "id,title,year,director_id\nf1,Birch Street,2011,p1\nf2,Amber Road,1999,p1\n"
PEOPLE = "id,name\np1,Ada Holm\np2,Boris Lind\n"
JOB_MILLISECONDS = 120_000
VIEWS = (
    {"viewport": {"width": 1280, "height": 900}},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
)


@pytest.fixture
def signed_in(open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Yield a function that opens the import page, signed in."""

    def opened(**options: object) -> Page:
        page = open_page(f"/admin/login/?next={IMPORT}", **options)
        page.get_by_label("Username").fill(KEEPER[0])
        page.get_by_label("Password").fill(KEEPER[1])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Import a knowledge base")).to_be_visible()
        return page

    return opened


def usable(page: Page) -> None:
    """The page fits its screen, and axe finds nothing."""
    assert page.evaluate(OVERFLOWING) == 0
    assert violations(page) == []


@pytest.mark.parametrize("view", VIEWS, ids=("wide", "phone and dark"))
def test_files_become_a_knowledge_base_that_answers(
    signed_in: Callable[..., Page], tmp_path: Path, view: dict[str, object]
) -> None:
    name = f"cinema-{random.randrange(10**9)}"
    (tmp_path / "films.csv").write_text(FILMS)
    (tmp_path / "people.csv").write_text(PEOPLE)
    page = signed_in(**view)
    usable(page)
    page.locator("#files").set_input_files([tmp_path / "films.csv", tmp_path / "people.csv"])
    page.get_by_role("button", name="Upload", exact=True).click()

    expect(page.get_by_label("Use of director_id in films.csv", exact=True)).to_have_value(
        "edge", timeout=JOB_MILLISECONDS
    )
    usable(page)
    page.get_by_label("Name of the knowledge base").fill(name)
    page.get_by_label("Use of year in films.csv", exact=True).select_option("id")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The mapping cannot be used yet.")
    page.get_by_label("Use of year in films.csv", exact=True).select_option("number")
    page.get_by_role("button", name="Check", exact=True).click()

    expect(page.get_by_role("heading", name="No bad rows")).to_be_visible()
    expect(page.locator(".import-drawing .arrow")).to_have_count(1)
    expect(page.get_by_role("cell", name="director", exact=True)).to_be_visible()
    usable(page)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#job-state")).to_contain_text("done", timeout=JOB_MILLISECONDS)
    page.goto(f"/admin/search/knowledgebase/?q={name}")
    expect(page.locator("#result_list")).to_contain_text(f"{name}-1")
    page.go_back()
    page.get_by_role("link", name="Ask it a question").click()
    expect(page.locator("#kb")).to_have_value(name)


def test_an_upload_that_breaks_off_goes_on_after_a_reload_and_sends_only_the_rest(
    signed_in: Callable[..., Page], tmp_path: Path
) -> None:
    draw = random.Random(7)
    file = tmp_path / "people.csv"
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["id", "name"])
        rows.writerows([f"p{number}", f"{draw.getrandbits(400):x}"] for number in range(110_000))
    page = signed_in(viewport={"width": 1280, "height": 900})
    pieces: list[int] = []

    def broken(route: Route) -> None:
        """Let the first piece pass, and break every other one."""
        if route.request.method != "PATCH" or not pieces:
            pieces.extend([1] if route.request.method == "PATCH" else [])
            route.continue_()
        else:
            route.abort("connectionreset")

    page.route("**/api/v1/uploads/**", broken)
    page.locator("#files").set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator("#sending-state")).to_contain_text("The connection broke")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#sending-state")).to_contain_text("What has arrived is kept")
    usable(page)

    page.unroute("**/api/v1/uploads/**")
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_role("heading", name="Not all has arrived")).to_be_visible()
    expect(page.locator("#received-files")).to_contain_text("8.0")
    usable(page)
    offsets: list[int] = []
    page.on(
        "request",
        lambda request: offsets.append(int(request.headers["upload-offset"])) if request.method == "PATCH" else None,
    )
    page.locator("#files").set_input_files(file)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Use of name in people.csv", exact=True)).to_have_value("name", timeout=JOB_MILLISECONDS)
    assert offsets == [8 << 20]
    assert file.stat().st_size > offsets[0]


def test_a_file_that_is_no_archive_is_refused_by_a_sentence(signed_in: Callable[..., Page], tmp_path: Path) -> None:
    (tmp_path / "films.zip").write_text("no archive at all")
    page = signed_in(viewport={"width": 390, "height": 844})
    page.locator("#files").set_input_files(tmp_path / "films.zip")
    page.get_by_role("button", name="Upload", exact=True).click()

    expect(page.get_by_role("heading", name="The upload was refused")).to_be_visible(timeout=JOB_MILLISECONDS)
    expect(page.get_by_role("alert")).to_contain_text("films.zip")
    usable(page)
    page.get_by_role("button", name="Discard it and begin again").click()
    expect(page.get_by_text("The upload was discarded.")).to_be_visible()


def test_without_script_small_files_are_sent_with_the_form(signed_in: Callable[..., Page], tmp_path: Path) -> None:
    (tmp_path / "films.csv").write_text(FILMS)
    page = signed_in(viewport={"width": 390, "height": 844})
    state = page.context.storage_state()
    assert page.context.browser is not None
    plain = page.context.browser.new_context(
        base_url=page.url.partition("/admin")[0], storage_state=state, java_script_enabled=False
    )
    try:
        form = plain.new_page()
        form.goto(IMPORT)
        form.locator("#files").set_input_files(tmp_path / "films.csv")
        form.get_by_role("button", name="Upload", exact=True).click()
        # The page refreshes itself until the files are unpacked.
        expect(form.get_by_label("Use of title in films.csv", exact=True)).to_have_value(
            "name", timeout=JOB_MILLISECONDS
        )
    finally:
        plain.close()


@pytest.mark.parametrize("view", VIEWS, ids=("wide", "phone and dark"))
def test_questions_and_warnings_are_answered_by_a_choice_and_a_button(
    signed_in: Callable[..., Page], tmp_path: Path, view: dict[str, object]
) -> None:
    (tmp_path / "parts.csv").write_text("id;name;weight;maker\n1;Screw;1.101;M-1\n2;Nut;2.102;M-2\n3;Bolt;3.103;M-1\n")
    (tmp_path / "makers.csv").write_text("id;name\n1;Orme\n2;Vesk\n")
    page = signed_in(**view)
    page.locator("#files").set_input_files([tmp_path / "parts.csv", tmp_path / "makers.csv"])
    page.get_by_role("button", name="Upload", exact=True).click()

    expect(page.get_by_role("heading", name="One question")).to_be_visible(timeout=JOB_MILLISECONDS)
    usable(page)
    page.get_by_label("1.101 → 1101").check()
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("heading", name="One thing looks wrong")).to_be_visible()
    usable(page)
    page.get_by_role("button", name="Put 'M-' before the ids of makers.csv").click()
    expect(page.get_by_role("heading", name="No bad rows")).to_be_visible()
    expect(page.locator(".import-warnings")).to_have_count(0)
