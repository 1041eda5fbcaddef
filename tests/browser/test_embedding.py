"""The embedded search box on a page of another origin: it asks, shows, says why, and is used by keyboard alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import violations
from tests.browser.conftest import Site
from tests.conftest import PROJECT

pytestmark = pytest.mark.browser
DEMO = (PROJECT / "docs" / "embed-demo.html").read_text(encoding="utf-8")


@contextmanager
def another_site(site: Site, host: str = "") -> Iterator[str]:
    """Serve the page of the docs from the allowed origin, or by another name of this machine; yield its address."""
    page = DEMO.replace("https://search.example.org", site.url).encode()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            # The policy of the docs.
            self.send_header(
                "Content-Security-Policy", f"default-src 'none'; script-src {site.url}; connect-src {site.url}"
            )
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    port = urlsplit(site.stranger).port
    server = ThreadingHTTPServer(("127.0.0.1", port or 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{host or '127.0.0.1'}:{port}/"
    finally:
        server.shutdown()
        server.server_close()


def test_a_page_of_another_origin_asks_shows_and_says_why(chromium: Browser, site: Site) -> None:
    complaints: list[str] = []
    context = chromium.new_context(viewport={"width": 375, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    with another_site(site) as address:
        page.goto(address)
        field = page.get_by_role("searchbox", name="Question")
        field.fill("What did Ingunn Aas design for Ostervik?")
        field.press("Enter")
        box = page.locator("grasp-search")
        expect(box.get_by_role("status")).to_have_text(re.compile("^Two products: Isvidde Flask"), timeout=30_000)
        expect(box.get_by_role("listitem")).to_have_count(3)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(box.locator(".name").nth(1)).to_be_focused()
        page.keyboard.press("Escape")
        expect(field).to_be_focused()
        why = box.get_by_role("link", name=re.compile("^Why\\?")).nth(1)
        assert re.fullmatch(rf"{site.url}/search/[0-9a-f-]{{36}}/#result-2", why.get_attribute("href") or "")
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        assert page.evaluate("getComputedStyle(document.querySelector('grasp-search')).color") == "rgb(233, 236, 231)"
        assert context.cookies() == []
        assert complaints == []
        page.context.close()


def test_it_is_named_wrongly_or_not_allowed_and_says_so(chromium: Browser, site: Site) -> None:
    context = chromium.new_context(bypass_csp=True, locale="de")
    page = context.new_page()
    with another_site(site, "localhost") as elsewhere:
        page.goto(elsewhere)
        box = page.locator("grasp-search")
        page.evaluate("document.documentElement.lang = 'de'")
        box.evaluate("box => box.ask('Was?')")
        expect(box.get_by_role("status")).to_contain_text("Diese Seite darf hier nicht fragen")
        page.goto(site.stranger)
        box.evaluate("box => { box.setAttribute('knowledge-base', 'prodcts'); box.ask('What?'); }")
        expect(box.get_by_role("status")).to_contain_text("There is no knowledge base 'prodcts'")
        assert violations(page) == []
    context.close()
