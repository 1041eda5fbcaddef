"""An artifact in a real browser: promoted on a page, used by the worker that runs already, rolled back, and deleted."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import QUESTION, ask
from tests.browser.conftest import Site
from tests.browser.test_every_page import artifact
from tests.browser.test_jobs import signed_in

__all__ = ["artifact"]
pytestmark = pytest.mark.browser


def asked(page: Page) -> dict[str, Any]:
    """Ask a question, and return the search as the API tells it."""
    page.goto("/")
    ask(page)
    run_id = page.url.rstrip("/").split("/")[-1]
    found: dict[str, Any] = page.request.get(f"/api/v1/searches/{run_id}/").json()
    assert found["question"] == QUESTION
    return found


def used(search: dict[str, Any]) -> tuple[str, str]:
    """Return the artifact of the search's specification, and what scored its first plan."""
    return search["pipeline"]["specification"]["stages"]["plan"]["OPTIONS"]["artifact"], search["plans"][0]["source"]


def test_promoting_reaches_a_running_worker_and_rolling_back_does_too(
    open_page: Callable[..., Page], site: Site, artifact: str
) -> None:
    page = signed_in(open_page, f"/admin/search/artifact/{artifact}/change/")
    workers = site.worker_pids()
    assert used(asked(page)) == ("", "schema")

    page.goto(f"/admin/search/artifact/{artifact}/change/")
    version = page.get_by_role("link", name=re.compile(r"^grasp \d+ for products$")).first
    name = version.inner_text()
    version.click()
    page.get_by_role("button", name="Make active").click()
    expect(page.get_by_text(f"use {name.removesuffix(' for products')}.")).to_be_visible()
    assert used(asked(page)) == (artifact, "learned")

    page.goto(f"/admin/search/artifact/{artifact}/delete/")
    expect(page.get_by_text(f"is in use by the active version {name}")).to_be_visible()

    page.goto(f"/admin/search/artifact/{artifact}/change/")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download all as a ZIP archive").click()
    assert downloading.value.suggested_filename == f"{artifact}.zip"
    page.get_by_role("link", name=name, exact=True).first.click()
    page.get_by_role("button", name="Roll back").click()
    expect(page.get_by_text("use the site's grasp again")).to_be_visible()
    assert used(asked(page)) == ("", "schema")
    assert site.worker_pids() == workers
