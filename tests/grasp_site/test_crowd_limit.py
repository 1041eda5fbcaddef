import json
from typing import Any
from urllib.parse import urlencode

import pytest

from grasp_site.crowd_limit import LONGEST_AGAIN, LONGEST_FORM, CrowdLimit, Returns, WaitedTooLong
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


def test_any_other_request_of_a_caller_who_sends_too_many_is_refused_without_a_question() -> None:
    site = Site()

    async def waits(scope: Any, receive: Any, send: Any) -> None:
        raise WaitedTooLong(0.0)

    site.limit._application = waits
    status, headers, body = site.ask("GET", "/search/1/")
    assert (status, site.refused) == (503, [])
    assert int(headers[b"retry-after"]) >= 5
    assert "as many requests as it can" in body
    assert "question has not been asked" not in body


def test_a_question_that_was_refused_before_its_form_was_read_is_given_back_too() -> None:
    site = Site()

    async def full(scope: Any, receive: Any, send: Any) -> None:
        raise WaitedTooLong(1.0)

    site.limit._application = full
    _, _, body = site.ask("POST", "/", urlencode(FORM).encode())
    assert 'name="kb" value="films"' in body


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_those_who_were_refused_come_back_as_quickly_as_searches_are_accepted() -> None:
    clock = Clock()
    returns = Returns(clock)
    for _ in range(400):
        clock.now += 0.1
        returns.accepted()
    again = [returns.after(1.0) for _ in range(400)]
    # Ten a second are accepted, so twenty a second may come back, and nobody earlier than after 5 s.
    for second in (10, 15):
        assert 65 <= sum(second <= one < second + 5 for one in again) <= 135, second
    assert min(again) >= 5
    assert 24 <= max(again) <= 28
    # Once their time has come, the next crowd is not asked to stay away for the one before it.
    clock.now += 60
    assert returns.after(1.0) <= 8


@pytest.mark.parametrize("accepted", [0, 1])
def test_a_crowd_comes_back_within_a_minute_even_if_hardly_anything_is_accepted(accepted: int) -> None:
    clock = Clock()
    returns = Returns(clock)
    for _ in range(accepted):
        returns.accepted()
    again = [returns.after(1.0) for _ in range(1_000)]
    assert max(again) <= LONGEST_AGAIN + 3
    assert len(set(again)) > 30
    assert max(again.count(seconds) for seconds in set(again)) < 100


def test_after_a_quiet_time_the_rate_is_that_of_the_new_crowd() -> None:
    clock = Clock()
    returns = Returns(clock)
    returns.accepted()
    clock.now += 3_600
    for _ in range(20):
        clock.now += 0.05
        returns.accepted()
    again = [returns.after(1.0) for _ in range(400)]
    assert 13 <= max(again) <= 20


@pytest.mark.parametrize(("status", "counts"), [(201, True), (302, True), (429, False), (503, False), (400, False)])
def test_only_accepted_searches_count(status: int, counts: bool) -> None:
    site = Site()

    async def answers(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})

    site.limit._application = answers
    site.ask("GET", "/")
    assert site.limit._returns._number == 0
    site.ask("POST", "/")
    assert (site.limit._returns._number == 1) is counts
