"""Feedback in a real browser: results are marked with and without scripts, and what is missing is named."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask
from tests.browser.axe import violations
from tests.browser.conftest import KEEPER

pytestmark = pytest.mark.browser
SCREENS = [(390, "dark"), (1280, "light")]
SHOTS = os.environ.get("GRASP_SCREENSHOTS", "")
"""Folder into which the pages are drawn, for whoever wants to look at them."""
TOO_WIDE = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"


def shot(page: Page, name: str, part: str = "") -> None:
    """Draw a part of the page, or all of it."""
    path = str(Path(SHOTS) / f"{name}.png")
    if SHOTS and part:
        page.locator(part).first.screenshot(path=path)
    elif SHOTS:
        page.screenshot(path=path, full_page=True)


def faults(page: Page) -> list[str]:
    found = violations(page)
    return [*found, f"wider by {page.evaluate(TOO_WIDE)}"] if page.evaluate(TOO_WIDE) > 0 else found


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_results_are_marked_unmarked_and_kept_over_a_reload(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = open_page("/", viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)
    ask(page)
    first, second = page.locator(".result").nth(0), page.locator(".result").nth(1)
    right = first.get_by_role("button", name="Right")
    right.focus()
    page.keyboard.press("Enter")
    expect(right).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("status").filter(has_text="Marked as right.")).to_be_visible()
    expect(right).to_be_focused()
    second.get_by_role("button", name="Wrong").click()
    expect(second.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
    assert faults(page) == []
    shot(page, f"marked-{width}", ".result")
    page.reload()
    expect(right).to_have_attribute("aria-pressed", "true")
    right.click()
    expect(right).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_text("The mark is withdrawn.")).to_be_visible()
    page.reload()
    expect(right).to_have_attribute("aria-pressed", "false")
    expect(second.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_what_is_missing_is_completed_named_and_withdrawn(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = open_page("/", viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)
    ask(page)
    page.get_by_text("Is something missing?").click()
    field = page.get_by_label("An entity that should be here")
    field.press_sequentially("Borosil")
    expect(page.locator("#missing-node-suggestions li").first).to_contain_text("Borosilicate Glass")
    shot(page, f"missing-typed-{width}", "#missing")
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value("Borosilicate Glass")
    page.get_by_label("Why").fill("it is meant")
    page.get_by_role("button", name="Say that it is missing").click()
    said = page.locator(".missed")
    expect(said).to_contain_text("Borosilicate Glass is missing: it is meant")
    assert faults(page) == []
    shot(page, f"missing-{width}", "#missing")
    page.get_by_label("An entity that should be here").fill("Borosilicat Gloss")
    page.get_by_role("button", name="Say that it is missing").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no entity 'Borosilicat Gloss'")
    assert faults(page) == []
    shot(page, f"missing-fault-{width}", "#missing")
    page.get_by_role("button", name="Withdraw – Borosilicate Glass").click()
    expect(page.locator(".missed")).to_have_count(0)


def test_marks_work_without_scripts(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport={"width": 390, "height": 844})
    ask(page)
    plain = open_page("/", java_script_enabled=False, storage_state=page.context.storage_state())
    plain.goto(page.url)
    plain.locator(".result").nth(0).get_by_role("button", name="Right").click()
    expect(plain).to_have_url(f"{page.url.split('#')[0]}#result-1")
    right = plain.locator(".result").nth(0).get_by_role("button", name="Right")
    expect(right).to_have_attribute("aria-pressed", "true")
    right.click()
    expect(right).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_a_question_set_is_uploaded_looked_at_and_saved(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = open_page(
        "/admin/login/?next=/admin/training/questionset/add/", viewport={"width": width, "height": 900},
        color_scheme=scheme, bypass_csp=True,
    )  # fmt: skip
    page.locator("input[name=username]").fill(KEEPER[0])
    page.locator("input[name=password]").fill(KEEPER[1])
    page.locator("input[name=password]").press("Enter")
    expect(page.get_by_role("button", name="Read and check")).to_be_visible()
    assert faults(page) == []
    shot(page, f"upload-{width}")
    page.get_by_role("button", name="Read and check").click()
    expect(page.get_by_text("Give either a file or a pasted text")).to_be_visible()
    assert faults(page) == []
    name = f"typed-{width}"
    lines = [
        {"id": "1", "text": "What did Ingunn Aas design?", "answers": ["OV-500", "OV-5000"], "split": "train"},
        {"id": "2", "text": "what did ingunn aas design", "answers": ["OV-500"], "split": "val"},
    ]
    content = "".join(f"{line}\n".replace("'", '"') for line in lines).encode()
    page.locator("input[name=file]").set_input_files(
        {"name": "asked.jsonl", "mimeType": "application/json", "buffer": content}
    )
    # Other tests of this run may have imported further knowledge bases.
    page.locator("select[name=knowledge_base]").select_option("products")
    page.locator("input[name=name]").fill(name)
    page.get_by_role("button", name="Read and check").click()
    expect(page.get_by_text("This cannot be saved so.")).to_be_visible()
    expect(page.get_by_text("across splits")).to_be_visible()
    assert faults(page) == []
    shot(page, f"preview-{width}")
    page.locator("select[name=duplicates]").select_option("move")
    page.locator("select[name=into]").select_option("train")
    page.get_by_role("button", name="Save as a question set").click()
    expect(page.get_by_text("is saved.")).to_be_visible()
    expect(page.get_by_text("OV-5000")).to_be_visible()
    assert faults(page) == []
    shot(page, f"set-{width}")
    page.get_by_role("link", name="What changed since the version before").click()
    expect(page.get_by_text("This is the first version")).to_be_visible()
    assert faults(page) == []
    page.goto("/admin/training/questionset/from-feedback/")
    assert faults(page) == []
    shot(page, f"from-feedback-{width}")
