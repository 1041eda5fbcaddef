"""One HTTP exchange, bounded in time and size, with a sentence for every error.

No exception of the HTTP library leaves this module, not even as a cause: its text and frames may contain headers, and
with them the key.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from search.adapters.llm_openai.body import json_in, text_in, text_so_far
from search.adapters.llm_openai.server import Server, ServerFault
from search.models.sealed import Secret

Heard = Callable[[str], None]
"""Is called with the text of an answer as far as it has arrived."""
MOST_BYTES = 4 * 1024 * 1024
MOST_HEARD = 256 * 1024
"""Bytes of a stream up to which its text is told as it arrives: all that has arrived is read each time."""
CONNECT_SECONDS = 5.0
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses after which the same request may succeed later."""
PASSING_TYPES = ("server", "overload", "rate")
"""Words in the type of an error after which the same request may succeed later."""
SHOWN_CHARACTERS = 200
"""Most characters of a server's message that are shown."""
LONGEST_HEADER = 100
"""Characters of a header that are read; a date has about thirty."""


class Bearer(httpx2.Auth):
    """Adds the key to the request when it is sent, so that no other object holds it unprotected."""

    def __init__(self, key: Secret) -> None:
        self._key = key

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Add the header if there is a key; a local server needs none."""
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key.reveal()}"
        yield request


def session(server: Server) -> httpx2.AsyncClient:
    """Return a session for a server; redirects are not followed, because they would send the key elsewhere."""
    return httpx2.AsyncClient(
        auth=Bearer(server.key),
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=server.concurrency + 1, max_keepalive_connections=server.concurrency),
        headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "grasp-search"},
        follow_redirects=False,
    )


async def exchange(
    http: httpx2.AsyncClient, server: Server, path: str, body: Mapping[str, Any] | None, seconds: float,
    heard: Heard | None = None,
) -> Any:  # fmt: skip
    """Send one request (POST with a body, GET without) and return the JSON of the response.

    Raises ServerFault. `seconds` limits the whole exchange, however slowly the response arrives. `heard` is called with
    the text that has arrived whenever more of a stream has.
    """
    if not (server.key.reveal().isascii() and server.key.reveal().isprintable()):
        raise ServerFault("has a key with characters that no HTTP header can carry; enter the key again.")
    try:
        async with asyncio.timeout(seconds):
            status, headers, content = await _send(http, server, path, body, heard)
    except TimeoutError:
        raise ServerFault(f"did not answer within {seconds:.3g} seconds.", again=True) from None
    except httpx2.ConnectTimeout:
        raise ServerFault("cannot be reached: no connection in time.", again=True) from None
    except httpx2.ConnectError as error:
        why = _one_line(server.key.cut_from(str(error)))
        raise ServerFault(f"cannot be reached: {why or 'no connection'}.", again=True) from None
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError):
        raise ServerFault("has an address that is none; correct its base URL.") from None
    except httpx2.HTTPError as error:
        raise ServerFault(f"broke the connection off ({type(error).__name__}).", again=True) from None
    return _read(server, status, headers, content)


async def _send(
    http: httpx2.AsyncClient, server: Server, path: str, body: Mapping[str, Any] | None, heard: Heard | None
) -> tuple[int, Mapping[str, str], bytes]:
    content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
    headers = {} if body is None else {"Content-Type": "application/json"}
    received = bytearray()
    method, url = "GET" if body is None else "POST", server.url(path)
    async with http.stream(method, url, content=content, headers=headers) as response:
        async for chunk in response.aiter_bytes():
            received += chunk
            if len(received) > MOST_BYTES:
                raise ServerFault(f"sent more than {MOST_BYTES // 1024**2} MiB without coming to an end.")
            if heard is not None and response.status_code == 200 and len(received) <= MOST_HEARD:
                heard(server.key.cut_from(text_so_far(bytes(received))))
        return response.status_code, response.headers, bytes(received)


def _read(server: Server, status: int, headers: Mapping[str, str], content: bytes) -> Any:
    text = text_in(content)
    data = json_in(text)
    if status != 200:
        raise _refusal(server, status, headers, data, text)
    if data is None:
        if text.lstrip()[:1] == "<":
            raise ServerFault("answered with a web page instead of JSON; is the base URL right?", status=status)
        said = "an empty body" if not text.strip() else "something that is not JSON, or JSON that breaks off"
        raise ServerFault(f"answered with {said}.", status=status, again=True)
    if isinstance(data, dict) and data.get("error"):
        raise _reported(server, status, data)
    return data


def _reported(server: Server, status: int, data: Mapping[str, Any]) -> ServerFault:
    """Return the fault for an error in the body of a successful response."""
    message = server.key.cut_from(_message(data, ""))
    error = data["error"] if isinstance(data["error"], dict) else {}
    code = error.get("code")
    number = code if isinstance(code, int) else status
    passing = number in PASSING or any(word in str(error.get("type", "")).casefold() for word in PASSING_TYPES)
    return ServerFault(f"reported an error{_said(message)}", again=passing, status=number, message=message)


def _refusal(server: Server, status: int, headers: Mapping[str, str], data: Any, text: str) -> ServerFault:
    """Return the fault for an HTTP status other than 200."""
    message = server.key.cut_from(_message(data, text))
    if 300 <= status < 400:
        return ServerFault(f"redirects elsewhere (HTTP {status}); give the address it redirects to.", status=status)
    meaning = {
        401: "does not accept the key",
        403: "refuses access with this key",
        404: "knows no such address or model",
        429: "is asked too often",
    }.get(status, "refused the request" if status < 500 else "failed")
    again = status in PASSING
    wait = _retry_after(headers.get("retry-after", "")) if again else None
    return ServerFault(
        f"{meaning} (HTTP {status}){_said(message)}", again=again, wait=wait, status=status, message=message
    )


def _message(data: Any, text: str) -> str:
    """Return a server's error message in one line; empty for a web page."""
    if isinstance(data, dict):
        error = data.get("error", data.get("detail", data.get("message", "")))
        said = error.get("message", error.get("type", "")) if isinstance(error, dict) else error
        return _one_line(said if isinstance(said, str) else json.dumps(said)[:SHOWN_CHARACTERS])
    return "" if text.lstrip()[:1] == "<" else _one_line(text)


def _said(message: str) -> str:
    return f": {message.rstrip('.')}." if message else "."


def _one_line(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * SHOWN_CHARACTERS]).split())
    return flat if len(flat) <= SHOWN_CHARACTERS else f"{flat[:SHOWN_CHARACTERS].rstrip()}…"


def _retry_after(value: str) -> float | None:
    """Return the seconds that Retry-After asks for, written as seconds or as a date (RFC 9110, section 10.2.3)."""
    value = value[:LONGEST_HEADER]
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, TypeError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
