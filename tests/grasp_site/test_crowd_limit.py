import json
from typing import Any
from urllib.parse import urlencode

import pytest

from grasp_site.crowd_limit import LONGEST_FORM, CrowdLimit, WaitedTooLong
from tests import own_loop

FORM = {"kb": "films", "q": 'Who directed "Alien" & <Aliens>?', "csrfmiddlewaretoken": "abc", "other": "x"}


class Site:
    """An application behind the limit, whose waits are set by the test."""

    def __init__(self, web: float = 0.0, queue: float = 0.0, longest: tuple[float, float] = (1.0, 2.0)) -> None:
        self.answered: list[str] = []
        self.refused: list[str] = []
        self.limit = CrowdLimit(self._answer, lambda: web, lambda: queue, *longest, self.refused.append)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.answered.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[bytes, bytes], str]:
        """Return status, headers and body of the response; the body of the request comes in two pieces."""
        sent: list[dict[str, Any]] = []
        half = len(body) // 2
        pieces = [(body[:half], True), (body[half:], False)]

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            piece, more = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": more}

        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}
        own_loop.run(self.limit(scope, receive, send))  # type: ignore[arg-type]
        return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"].decode() if len(sent) > 1 else ""


@pytest.mark.parametrize(("path", "door"), [("/", "page"), ("/api/v1/searches/", "api")])
@pytest.mark.parametrize(("web", "queue"), [(4.0, 0.0), (0.0, 4.0)])
def test_new_searches_are_refused_while_they_would_wait_too_long(
    path: str, door: str, web: float, queue: float
) -> None:
    site = Site(web, queue)
    status, headers, body = site.ask("POST", path)
    assert status == 503
    # Twice the wait, and up to half of that by chance.
    assert 8 <= int(headers[b"retry-after"]) <= 12
    assert f"ask again in {int(headers[b'retry-after'])} s" in body
    assert (site.answered, site.refused) == ([], [door])


def test_a_search_that_has_waited_at_the_door_for_too_long_is_refused_there() -> None:
    site = Site()

    async def waits(scope: Any, receive: Any, send: Any) -> None:
        raise WaitedTooLong(1.0, urlencode(FORM).encode())

    site.limit._application = waits
    status, headers, body = site.ask("POST", "/")
    assert (status, site.refused) == (503, ["page"])
    # Twice a second is less than the least time.
    assert 5 <= int(headers[b"retry-after"]) <= 8
    assert 'name="kb" value="films"' in body


def test_a_program_gets_a_problem() -> None:
    _, headers, body = Site(web=4.0).ask("POST", "/api/v1/searches/", b"{}")
    assert headers[b"content-type"] == b"application/problem+json"
    assert json.loads(body)["status"] == 503


def test_a_person_gets_a_page_that_asks_again() -> None:
    _, headers, body = Site(web=4.0).ask("POST", "/", urlencode(FORM).encode())
    assert headers[b"content-type"].startswith(b"text/html")
    assert f'data-seconds="{int(headers[b"retry-after"])}"' in body
    assert 'name="q" value="Who directed &quot;Alien&quot; &amp; &lt;Aliens&gt;?"' in body
    assert 'name="csrfmiddlewaretoken" value="abc"' in body
    assert "other" not in body
    assert "<Aliens>" not in body


@pytest.mark.parametrize("body", [b"", b"q=", b"\xff\xfe", b"q=" + b"a" * LONGEST_FORM])
def test_a_form_that_cannot_be_given_back_is_asked_again_by_the_person(body: bytes) -> None:
    _, _, page = Site(web=4.0).ask("POST", "/", body)
    assert "go back, and ask it again" in page
    assert "<form" not in page


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/search/1/"), ("POST", "/search/1/feedback/")])
def test_searches_that_were_accepted_go_on(method: str, path: str) -> None:
    assert Site(web=4.0, queue=4.0).ask(method, path)[0] == 200


@pytest.mark.parametrize("longest", [(0.0, 0.0), (5.0, 5.0)])
def test_nobody_is_refused_without_a_limit_or_below_it(longest: tuple[float, float]) -> None:
    assert Site(4.0, 4.0, longest).ask("POST", "/")[0] == 200
