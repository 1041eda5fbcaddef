"""Refuses new searches that would wait too long, so that those that were accepted are answered in time.

A new search waits twice: for a place in the web process, and for a worker. Both waits are known at the door, before
anything has been done for it. A refusal costs a hundredth of a page, and says when to ask again; its page does so by
itself. Those who were refused are asked to come back one after the other, twice as many as are accepted in that time:
then there is always somebody to answer, and the others cost no time in between.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any
from urllib.parse import parse_qsl

from grasp_site.body_limit import Application, Receive, Send
from search.services.access.network import network_of
from search.services.observing.carried import request_id_from

AGAIN_SECONDS = 5
"""Least seconds until somebody who was refused may ask again."""
SPREAD = 0.5
"""Share of these seconds that is added by chance, so that not all who were refused come back at the same moment."""
LONGEST_AGAIN = 60
"""Most seconds that somebody is asked to stay away, unless the wait itself is longer."""
AHEAD, FEWEST = 2.0, 8.0
"""How many come back for each search that is accepted, and how many in a second at least: a refusal costs little, and
workers that wait for somebody to come cost more."""
RATE_SECONDS = 10.0
"""Seconds over which the rate of accepted searches is averaged."""
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
    """A request would wait, or has waited, for longer than it may; `body` is what it came with, None if unread."""

    def __init__(self, seconds: float, body: bytes | None = None) -> None:
        super().__init__(f"no place within {seconds:g} s")
        self.seconds = seconds
        self.body = body


def asks(scope: Any) -> bool:
    """Return whether a request asks a new search."""
    return scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in ASKING


def comes_new(scope: Any) -> bool:
    """Return whether a request asks a new search, or opens the page on which one is asked."""
    return scope["path"] in ASKING


def caller_of(scope: Any) -> str:
    """Return the network address from which a request comes, as all limits count it."""
    return network_of(scope["client"][0]) if scope.get("client") else ""


class Returns:
    """Says when those who were refused may come back: one after the other, as quickly as searches are accepted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = self._counted = clock()
        self._number, self._due = 0.0, 0.0

    def accepted(self) -> None:
        """Count a search that was accepted."""
        now = self._clock()
        if not self._number_at(now) > 0.01:
            self._began, self._number = now, 0.0
        self._number, self._counted = self._number_at(now) + 1, now

    def after(self, wait: float) -> int:
        """Return the seconds after which somebody who would have waited for `wait` seconds may ask again."""
        now = self._clock()
        least = max(float(AGAIN_SECONDS), 2 * wait)
        self._due = max(self._due + 1 / max(FEWEST, AHEAD * self._rate_at(now)), now + least)
        turn = self._due - now
        if turn > LONGEST_AGAIN:
            turn = max(least, LONGEST_AGAIN * (1 - SPREAD * random.random()))
        return math.ceil(turn + least * SPREAD * random.random())

    def _number_at(self, now: float) -> float:
        """Return the number of accepted searches; the longer ago each was, the less it counts."""
        return self._number * math.exp((self._counted - now) / RATE_SECONDS)

    def _rate_at(self, now: float) -> float:
        seconds = RATE_SECONDS * (1 - math.exp((self._began - now) / RATE_SECONDS))
        return self._number_at(now) / max(1.0, seconds)


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

        `count` is called with the door (`page`, `api`) of each refused search.
        """
        self._returns = Returns()
        self._application = application
        self._waits = ((web_wait, longest_web), (queue_wait, longest_queue))
        self._count = count

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        asked = asks(scope)
        if asked:
            too_long = [wait for waited, longest in self._waits if longest and (wait := waited()) > longest]
            if too_long:
                await self._refuse(scope, await _short_body(receive), send, max(too_long))
                return
        try:
            await self._application(scope, receive, partial(self._sent, send) if asked else send)
        except WaitedTooLong as error:
            body = await _short_body(receive) if error.body is None else error.body
            await self._refuse(scope, body if len(body) <= LONGEST_FORM else b"", send, error.seconds)

    async def _sent(self, send: Send, message: Any) -> None:
        """Pass a part of the answer to a search on, and count the search if it was accepted."""
        if message["type"] == "http.response.start" and message["status"] < 400:
            self._returns.accepted()
        await send(message)

    async def _refuse(self, scope: Any, body: bytes, send: Send, wait: float) -> None:
        again = self._returns.after(wait)
        asked = asks(scope)
        things = "questions" if asked else "requests"
        sentence = f"The site answers as many {things} as it can at the moment; ask again in {again} s."
        identifier = request_id_from(dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1"))
        if scope["path"].startswith("/api/"):
            problem = {
                "type": "urn:grasp:problem:service-unavailable", "title": "Service Unavailable", "status": 503,
                "detail": sentence, "errors": [], "request_id": identifier,
            }  # fmt: skip
            kind, document = b"application/problem+json", json.dumps(problem)
        else:
            kind, document = b"text/html; charset=utf-8", _page(sentence, again, body, asked)
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
        if asked:
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


def _page(sentence: str, again: int, body: bytes, asked: bool) -> str:
    """Return the page of a refusal. With the fields of its form it can ask a question again without going back."""
    if not asked:
        return PAGE.format(sentence=escape(sentence), question="")
    given = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    text = given.get("q", "").strip()
    if not text:
        return PAGE.format(sentence=escape(sentence), question=NO_QUESTION)
    fields = "".join(
        f'<input type="hidden" name="{name}" value="{escape(given[name])}">' for name in KEPT if name in given
    )
    question = QUESTION.format(again=again, fields=fields, asked=escape(text))
    return PAGE.format(sentence=escape(sentence), question=question)
