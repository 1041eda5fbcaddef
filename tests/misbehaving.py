"""A language-model server that speaks real HTTP and behaves as a test specifies: correctly or badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-kestrel-1234567890"
"""The key that tests send; a badly behaving server repeats it."""

Body = dict[str, Any]


def chat(text: str | None, finish_reason: str = "stop", **extra: Any) -> Body:
    """Return the body of a chat completion."""
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 34, "total_tokens": 154},
        **extra,
    }


@dataclass(frozen=True)
class Reply:
    """The server's reaction to one request."""

    status: int = 200
    body: str | bytes = ""
    headers: dict[str, str] = field(default_factory=dict)
    declared: int | None = None
    """Content-Length, if it is to differ from the body's length."""
    stalls: bool = False
    """Whether nothing is sent until the test is over."""
    by_event: bool = False
    """Whether each event of the body is sent by itself."""
    gate: threading.Event | None = None
    """What the event with the number `gated` waits for."""
    gated: int = 0
    endless: bytes = b""
    """Bytes that are sent again and again without end."""

    @classmethod
    def says(cls, text: str | None, finish_reason: str = "stop") -> Reply:
        """Return a correct completion with this text."""
        return cls.json(chat(text, finish_reason))

    @classmethod
    def json(cls, body: Any, status: int = 200, **headers: str) -> Reply:
        """Return a response with a JSON body."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(body), {"Content-Type": "application/json", **named})


def streamed(text: str, size: int = 8, gate: threading.Event | None = None) -> Reply:
    """Return a completion as server-sent events, with so many characters in each; the last text waits for the gate."""
    parts = [{"delta": {"content": text[at : at + size]}} for at in range(0, len(text), size)]
    chunks = [{"choices": [{"index": 0, **part}]} for part in [*parts, {"delta": {}, "finish_reason": "stop"}]]
    chunks.append({"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 34}})
    said = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return Reply(body=f"{said}data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"},
                 by_event=True, gate=gate, gated=len(parts))  # fmt: skip


SLOW = Reply(stalls=True)
HTML = Reply(
    body="<!doctype html><html><body><h1>Welcome to nginx</h1></body></html>", headers={"Content-Type": "text/html"}
)
HALF_JSON = Reply(body='{"choices": [{"message": {"content": "{\\"anch')
CUT_OFF = Reply(body='{"choices": [', declared=5_000)
WRONG_SCHEMA = Reply.json({"answer": "it is forty-two", "ok": True})
NO_CHOICES = Reply.json({"choices": []})
EMPTY_CHOICE = Reply.json(chat(None, "content_filter"))
ERROR_IN_200 = Reply.json({"error": {"message": f"model crashed while serving {KEY}", "type": "server_error"}})
UNAUTHORISED = Reply.json({"error": {"message": f"Incorrect API key provided: {KEY}."}}, status=401)
TOO_MANY = Reply.json({"error": {"message": "slow down"}}, status=429, Retry_After="0.05")
TOO_MANY_FOR_LONG = Reply.json({"error": {"message": "slow down"}}, status=429, Retry_After="3600")
FAILING = Reply.json({"error": {"message": "out of memory"}}, status=503)
ENDLESS = Reply(endless=b'{"choices": [], "padding": "' + b"x" * 65_536)
DRIPPING = Reply(endless=b" ")
REDIRECT = Reply(301, "", {"Location": "http://elsewhere.invalid/v1/chat/completions"})


@dataclass
class Server:
    """The server as a test sees it: its address, its replies, and the requests it received."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    """Used in the order of the requests; the last one is repeated."""
    respond: Callable[[Body], Reply] | None = None
    """Request body → reply; if set, it is used instead of `replies`."""
    models: Reply = field(default_factory=lambda: Reply.json({"data": [{"id": "tiny-1"}, {"id": "other"}]}))
    requests: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _at_once: int = 0

    def next(self, body: Body, headers: dict[str, str]) -> Reply:
        """Record a request and return the reply to it."""
        with self.lock:
            self.requests.append(body)
            self.headers.append(headers)
        if self.respond is not None:
            return self.respond(body)
        with self.lock:
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a request as concurrent while it is being answered."""
        with self.lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self.lock:
                self._at_once -= 1


class _Http(ThreadingHTTPServer):
    """The HTTP server, with the behaviour that its handler uses."""

    daemon_threads = True
    behaviour: Server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        self._send(self.server.behaviour.models if self.path == "/v1/models" else Reply(404, "nothing here"))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path not in ("/v1/chat/completions", "/v1/rerank"):
            self._send(Reply(404, "nothing here"))
            return
        with self.server.behaviour.counted():
            self._send(self.server.behaviour.next(body, dict(self.headers)))

    def _send(self, reply: Reply) -> None:
        if reply.stalls:
            self.server.behaviour.over.wait(30)
            self.close_connection = True
            return
        self.close_connection = bool(reply.endless) or reply.declared is not None
        # A client that closes the connection early is not an error of the server.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._write(reply)

    def _write(self, reply: Reply) -> None:
        content = reply.body.encode() if isinstance(reply.body, str) else reply.body
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if not reply.endless:
            self.send_header("Content-Length", str(reply.declared or len(content)))
        self.end_headers()
        for at, part in enumerate(content.split(b"\n\n") if reply.by_event else [content], 1):
            if reply.gate is not None and at == reply.gated:
                reply.gate.wait(30)
            self.wfile.write(part + b"\n\n" * (reply.by_event and bool(part)))
            self.wfile.flush()
        pause = 0.02 if len(reply.endless) < 100 else 0.0
        while reply.endless and not self.server.behaviour.over.wait(pause):
            self.wfile.write(reply.endless)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log to the terminal."""


@contextmanager
def running(*replies: Reply) -> Iterator[Server]:
    """Run a server on a free port; its base URL ends in /v1."""
    http = _Http(("127.0.0.1", 0), _Handler)
    server = http.behaviour = Server(f"http://127.0.0.1:{http.server_address[1]}/v1", list(replies))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        http.shutdown()
        http.server_close()
        thread.join(5)
