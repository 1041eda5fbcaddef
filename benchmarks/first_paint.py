"""First paint, layout shifts and size of a result page in Chromium, and the server's processor time for it.

The page is opened as a visitor does: a question is asked, the stages arrive, then the finished page is opened from
another one. First contentful paint counts from the request; the sum of layout shifts (CLS) follows web.dev: up to 0.1
is good.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchmarks.common import CHROMIUM, NotHere, percentiles, running, table

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

QUESTIONS = ("What did Ingunn Aas design that keeps a drink cold?", "How many products did Ingunn Aas design?")
BASE = "products"
TIMES = 10
WATCH = """() => {
  window.shifts = 0; window.painted = 0;
  const add = (one) => { if (!one.hadRecentInput) window.shifts += one.value; };
  new PerformanceObserver((list) => list.getEntries().forEach(add))
    .observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const one of list.getEntries()) window.painted = one.startTime; })
    .observe({ type: 'paint', buffered: true });
}"""
PAINTED = "new Promise((done) => { const look = () => window.painted ? done() : setTimeout(look, 20); look(); })"
WEIGHT = """[performance.getEntriesByType('navigation')[0].decodedBodySize / 1000,
  document.getElementsByTagName('*').length]"""
SIZES: dict[str, ViewportSize] = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 375, "height": 800}}


def main() -> None:
    """Ask, look, and print a row for each width; then the server's own time for the finished page."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NotHere("needs the packages of the tests") from error
    rows: list[tuple[Any, ...]] = []
    weights: list[tuple[float, float]] = []
    pages: list[tuple[str, dict[str, str]]] = []
    with running({"GRASP_SEARCHES_PER_MINUTE": "100000"}) as (address, _, _), sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--headless"])
        for name, size in SIZES.items():
            context = browser.new_context(base_url=address, viewport={"width": size["width"], "height": size["height"]})
            context.add_init_script(f"({WATCH})()")
            page = context.new_page()
            arriving, shifts, paints, still = [], [], [], []
            for at in range(TIMES):
                page.goto(f"/?kb={BASE}")
                page.fill("#q", QUESTIONS[at % len(QUESTIONS)])
                page.keyboard.press("Enter")
                page.wait_for_selector("#state.done")
                arriving.append(page.evaluate("painted") / 1000)
                shifts.append(page.evaluate("shifts"))
                cookies = {str(one.get("name")): str(one.get("value")) for one in context.cookies()}
                pages.append((urlsplit(page.url).path, cookies))
                found = page.url
                page.goto("/words/")
                page.goto(found)
                page.evaluate(PAINTED)
                paints.append(page.evaluate("painted") / 1000)
                still.append(page.evaluate("shifts"))
                weights.append(tuple(page.evaluate(WEIGHT)))
            rows.append((name, *percentiles(arriving), *percentiles(paints), f"{max(shifts):.3f}", f"{max(still):.3f}"))
        browser.close()
    columns = ("width", "asked p50 ms", "p95", "opened p50 ms", "p95", "most CLS asked", "opened")
    table("First contentful paint of a result page", columns, rows)
    kilobytes, elements = zip(*weights, strict=True)
    table("Size of a finished page", ("KB p50", "elements p50"), [(median(kilobytes), f"{median(elements):,.0f}")])
    table("The server's part", ("page", "processor ms p50", "p95"), [("finished search", *_server(pages))])


def _server(pages: list[tuple[str, dict[str, str]]]) -> tuple[float, float]:
    """Return the processor time of finished pages, in milliseconds, p50 and p95; the first page is not counted.

    A page is given with the cookies of the visitor who asked it: nobody else may see it.
    """
    from django.test import Client

    spent = []
    # A client loads the middleware at its first request, which a server does once: all visitors share one.
    visitor = Client(SERVER_NAME="localhost")
    for address, cookies in [pages[0], *pages]:
        visitor.cookies.clear()
        visitor.cookies.load(cookies)
        began = time.process_time()
        answer = visitor.get(address)
        spent.append(time.process_time() - began)
        if answer.status_code != HTTPStatus.OK:
            raise NotHere(f"the page of a finished search is there, but it says {answer.status_code}")
    return percentiles(spent[1:])
