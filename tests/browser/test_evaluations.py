"""The pages of evaluations in a browser: nothing that axe finds, nothing too wide, and the way to a lost question."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import open_details
from tests.browser.conftest import PRODUCTS, Site
from tests.browser.test_every_page import DESK, PHONE, faults_of, open_checked

__all__ = ["open_checked"]

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
PIPELINES = ("grasp", "hybrid", "ppr")


@pytest.fixture(scope="module")
def report(site: Site, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An evaluation of three pipelines over the questions of the products; return the address of its report."""
    folder: Path = tmp_path_factory.mktemp("evaluation")
    chosen = [word for name in PIPELINES for word in ("--pipeline", name)]
    questions = str(PRODUCTS / "questions.jsonl")
    told = site.manage(
        "evaluate", "products", "--questions", questions, *chosen, "--limit", "20", "--repeat", "2",
        "--output", str(folder), "--json",
    )  # fmt: skip
    return f"/evaluations/{json.loads(told)['evaluation']}/"


def test_pages_of_evaluations_have_no_fault(open_checked: OpenPage, report: str) -> None:
    page = open_checked("/evaluations/")
    identifier = report.strip("/").split("/")[-1]
    found = {}
    for path in (
        "/evaluations/", report, f"{report}questions/", f"{report}questions/?found=none&pipeline=hybrid",
        f"{report}questions/?question=nobody-asks-this", f"{report}questions/0/", "/evaluations/compare/",
        f"/evaluations/compare/?a={identifier}&b={identifier}&pipeline_a=hybrid&pipeline_b=grasp",
    ):  # fmt: skip
        page.goto(path)
        open_details(page)
        found[path] = faults_of(page)
    page.goto(f"{report}questions/?pipeline=hybrid&found=not%20first")
    page.locator(".eval-questions a").first.click()
    expect(page.get_by_role("heading", name="Expected").first).to_be_visible()
    found["lost question"] = faults_of(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_from_a_stage_of_the_report_to_the_question_that_it_lost(open_checked: OpenPage, report: str) -> None:
    page = open_checked(report, viewport=DESK)
    expect(page.get_by_role("heading", name="Expected answers that are left after each stage")).to_be_visible()
    stage = page.locator(".eval-lost a").last
    heading = stage.inner_text()
    stage.click()
    expect(page.locator(".eval-questions li").first).to_contain_text(heading)
    page.locator(".eval-questions a").first.click()
    expect(page.locator(".verdict").filter(has_text=heading).first).to_be_visible()
    page.get_by_role("link", name="the search").first.click()
    expect(page.get_by_role("link", name="Trace", exact=True)).to_be_visible()


def test_on_a_phone_each_figure_stands_under_the_name_of_its_column(open_checked: OpenPage, report: str) -> None:
    page = open_checked(report, viewport=PHONE)
    named = "(cell) => getComputedStyle(cell, '::before').content"
    assert page.locator(".eval-measures td").nth(1).evaluate(named) == '"H@5"'
    page.set_viewport_size(DESK)
    assert page.locator(".eval-measures td").nth(1).evaluate(named) == "none"


def test_a_printed_report_leaves_out_what_cannot_be_used_on_paper(open_checked: OpenPage, report: str) -> None:
    page = open_checked(report, viewport=DESK)
    page.emulate_media(media="print")
    expect(page.locator(".eval-measures")).to_be_visible()
    for what in ("header.site", ".actions", ".crumbs"):
        expect(page.locator(what).first).to_be_hidden()
