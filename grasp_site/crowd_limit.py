"""Refuses new searches that would wait too long, so that those that were accepted are answered in time.

A new search waits twice: for a place in the web process, and for a worker. Both waits are known at the door, before
anything has been done for it. A refusal costs a hundredth of a page, and says when to ask again; its page does so by
itself.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import parse_qsl

from grasp_site.body_limit import Application, Receive, Send
from search.services.observing.carried import request_id_from

AGAIN_SECONDS = 5
"""Least seconds until somebody who was refused may ask again."""
SPREAD = 0.5
"""Share of these seconds that is added by chance, so that not all who were refused come back at the same moment."""
ASKING = {"/": "page", "/api/v1/searches/": "api"}
"""Addresses at which a POST asks a search, and what these doors are called in the counts."""
LONGEST_FORM = 1 << 16
"""Bytes of a form that its refusal gives back; of a longer one it says only that it was not asked."""
KEPT = ("kb", "q", "pipeline", "plan", "csrfmiddlewaretoken")
"""Fields of the search page's form."""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Many people are searching · GRASP search</title>
<link rel="icon" href="/static/search/logo.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/search/pages.css"><script src="/static/search/again.js" defer></script>
<header class="site"><a class="brand" href="/"><img src="/static/search/logo.svg" width="30" height="30" alt="">
<span>GRASP <i>search</i></span></a></header>
<main id="content" class="error"><p class="code-number">503</p><h1>Many people are searching</h1><p>{sentence}</p>
{question}</main></html>"""
QUESTION = """<p>Your question has not been asked yet: <b>{asked}</b></p><p id="counting" role="status"></p>
<form method="post" action="/" id="again" data-seconds="{again}">{fields}</form>
<p><button class="primary" type="submit" form="again">Ask again</button></p>"""
NO_QUESTION = """<p>Your question has not been asked yet: go back, and ask it again.</p>"""


class WaitedTooLong(Exception):
    """A new search has waited at the door for longer than it may; `body` is the form that it came with."""

    def __init__(self, seconds: float, body: bytes) -> None:
        super().__init__(f"no place within {seconds:g} s")
        self.seconds = seconds
        self.body = body


def asks(scope: Any) -> bool:
    """Return whether a request asks a new search."""
    return scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in ASKING


def comes_new(scope: Any) -> bool:
    """Return whether a request asks a new search, or opens the page on which one is asked."""
    return scope["path"] in ASKING


class CrowdLimit:
    """An ASGI application that answers 503 to new searches while they would wait too long."""

    def __init__(
        self,
        application: Application,
        web_wait: Callable[[], float],
        queue_wait: Callable[[], float],
        longest_web: float,
        longest_queue: float,
        count: Callable[[str], None],
    ) -> None:
        """Both waits, and the longest ones that are allowed, are in seconds; a longest one of 0 is no limit.

        `count` is called with the door (`page`, `api`) of each refusal.
        """
        self._application = application
        self._waits = ((web_wait, longest_web), (queue_wait, longest_queue))
        self._count = count

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if asks(scope):
            too_long = [wait for waited, longest in self._waits if longest and (wait := waited()) > longest]
            if too_long:
                await self._refuse(scope, await _short_body(receive), send, max(too_long))
                return
        try:
            await self._application(scope, receive, send)
        except WaitedTooLong as error:
            await self._refuse(scope, error.body if len(error.body) <= LONGEST_FORM else b"", send, error.seconds)

    async def _refuse(self, scope: Any, body: bytes, send: Send, wait: float) -> None:
        least = max(float(AGAIN_SECONDS), 2 * wait)
        again = math.ceil(least * (1 + SPREAD * random.random()))
        sentence = f"The site answers as many questions as it can at the moment; ask again in {again} s."
        identifier = request_id_from(dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1"))
        if scope["path"].startswith("/api/"):
            problem = {
                "type": "urn:grasp:problem:service-unavailable", "title": "Service Unavailable", "status": 503,
                "detail": sentence, "errors": [], "request_id": identifier,
            }  # fmt: skip
            kind, document = b"application/problem+json", json.dumps(problem)
        else:
            kind, document = b"text/html; charset=utf-8", _page(sentence, again, body)
        headers = [
            (b"content-type", kind),
            (b"retry-after", str(again).encode()),
            (b"cache-control", b"no-store"),
            (b"content-security-policy", _POLICY),
            (b"referrer-policy", b"same-origin"),
            (b"x-content-type-options", b"nosniff"),
            (b"x-request-id", identifier.encode()),
        ]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": document.encode()})
        self._count(ASKING[scope["path"]])


_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    b"frame-ancestors 'none'"
)


async def _short_body(receive: Receive) -> bytes:
    """Read the body of a request to its end, so that its connection can be used again; keep it if it is short."""
    kept, long, more = b"", False, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        kept += b"" if long else message.get("body", b"")
        if len(kept) > LONGEST_FORM:
            kept, long = b"", True
        more = message.get("more_body", False)
    return kept


def _page(sentence: str, again: int, body: bytes) -> str:
    """Return the page of a refusal. With the fields of its form it can ask again without going back."""
    given = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    asked = given.get("q", "").strip()
    if not asked:
        return PAGE.format(sentence=escape(sentence), question=NO_QUESTION)
    fields = "".join(
        f'<input type="hidden" name="{name}" value="{escape(given[name])}">' for name in KEPT if name in given
    )
    question = QUESTION.format(again=again, fields=fields, asked=escape(asked))
    return PAGE.format(sentence=escape(sentence), question=question)
