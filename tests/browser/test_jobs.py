"""A job in a real browser: launched by its form, its process killed, followed to its end; another one cancelled."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import KEEPER
from tests.job_workers import stopped

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
SHOTS = os.environ.get("GRASP_SCREENSHOTS", "")
"""Folder into which the pages are drawn, for whoever wants to look at them."""
TOO_WIDE = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
LONGEST = 60_000.0
"""Milliseconds that a job may take on a busy machine."""
WORKS = re.compile(r"Process (\d+) on \S+ works on it")


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


def faults(page: Page) -> list[str]:
    """Return what axe finds on the page on a phone and on a desk, and whether it is wider than the screen."""
    found = []
    for viewport in (PHONE, DESK):
        page.set_viewport_size(viewport)
        found += violations(page)
        if page.evaluate(TOO_WIDE) > 0:
            found.append(f"wider than {viewport['width']} by {page.evaluate(TOO_WIDE)}")
    return found


def signed_in(open_page: Callable[..., Page], path: str, **options: object) -> Page:
    page = open_page(f"/admin/login/?next={path}", viewport=DESK, bypass_csp=True, **options)
    page.locator("input[name=username]").fill(KEEPER[0])
    page.locator("input[name=password]").fill(KEEPER[1])
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(f"**{path}")
    return page


def launch(page: Page, kinds: str) -> None:
    """Launch a job that makes some kinds of vectors of the products, by its form."""
    page.goto("/admin/search/job/launch/")
    page.get_by_role("link", name="Index").click()
    page.get_by_label("Knowledge base").select_option("products")
    page.get_by_label("Kinds").fill(kinds)
    page.get_by_role("button", name="Launch").click()
    page.wait_for_url("**/change/")


def bodies(page: Page) -> list[psutil.Process]:
    """Return the processes that do the work of the job on the page, once there are any."""
    sentence = page.locator(".job-sentence")
    expect(sentence).to_have_text(WORKS, timeout=LONGEST)
    found = WORKS.search(sentence.inner_text())
    assert found is not None
    keeper = psutil.Process(int(found[1]))
    deadline = time.monotonic() + LONGEST / 1000
    while not (children := keeper.children()):
        # The keeper claims the job before it starts the process that does it.
        assert time.monotonic() < deadline, "no process works on the job"
        time.sleep(0.02)
    return children


def test_a_job_whose_process_is_killed_goes_on_to_its_end_and_what_it_made_is_promoted(
    open_page: Callable[..., Page],
) -> None:
    page = signed_in(open_page, "/admin/search/job/launch/")
    launch(page, "document\nchunk\nfield:description")
    [body] = bodies(page)
    # Held still, so that what is looked at and killed is in the middle of its work however fast this machine is.
    with stopped(body):
        shot(page, "job-running")
        assert faults(page) == []
        body.kill()
    expect(page.locator(".job-sentence")).to_have_text(re.compile("attempt 2|Done in"))
    shot(page, "job-after-kill")
    expect(page.locator(".tag")).to_have_text("done", timeout=LONGEST)
    expect(page.locator(".job-sentence")).to_contain_text("Done in")
    attempts = page.locator(".job-facts div").filter(has=page.locator("dt", has_text="attempts"))
    expect(attempts.locator("dd")).to_have_text("2")
    expect(page.locator(".job-facts").filter(has_text="attempts")).to_contain_text("written to disk")
    shot(page, "job-done")
    assert faults(page) == []

    page.get_by_role("button", name=re.compile("Promote: use release products-")).click()

    expect(page.get_by_text("The next searches of products use release products-")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Promote"))).to_have_count(0)
    expect(page.get_by_text(re.compile(r"release products-\d+: searches use it"))).to_be_visible()


def test_a_running_job_is_cancelled_and_the_first_page_shows_who_worked_on_it(open_page: Callable[..., Page]) -> None:
    page = signed_in(open_page, "/admin/search/job/launch/", color_scheme="dark")
    launch(page, "document\nfield:description")
    [body] = bodies(page)
    job = page.url
    with stopped(body):
        page.goto("/admin/")
        worker = page.get_by_role("row").filter(has_text="jobs@")
        expect(worker.get_by_role("link", name="Indexing of products", exact=True)).to_be_visible()
        expect(worker).to_contain_text(re.compile("CPU|GPU"))
        shot(page, "dashboard-job-running")
        assert faults(page) == []
        page.goto(job)
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator(".tag")).to_have_text("cancelled")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    shot(page, "job-cancelled")
    assert faults(page) == []
    assert not body.is_running()


def test_a_job_can_be_followed_without_scripts(open_page: Callable[..., Page]) -> None:
    page = signed_in(open_page, "/admin/search/job/launch/", java_script_enabled=False)
    launch(page, "chunk")
    # The page asks the browser to load it again every five seconds while the job lives.
    expect(page.locator(".tag")).to_have_text("done", timeout=LONGEST)
