"""A server as it is asked: address, model, key, limits."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from search.domain.conversation import Prompt
from search.models.sealed import Secret

Structured = Literal["auto", "on", "off"]


class ServerFault(Exception):
    """An exchange that gave nothing to use; `reason` goes on from the server's name and ends in a full stop.

    `again` says that the same request may succeed soon, after `wait` seconds where the server says how many; `status`
    is the HTTP status where there was one.
    """

    def __init__(
        self, reason: str, *, again: bool = False, wait: float | None = None, status: int = 0, message: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.wait = wait
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Server:
    """A server and the model to ask for there.

    `base_url` is used as given: paths are appended to it, nothing else. `timeout` is in seconds, for one HTTP request
    from its first byte to the answer's last; `concurrency` counts requests at once from this process.
    """

    name: str
    base_url: str
    model: str
    key: Secret = field(default_factory=Secret)
    timeout: float = 30.0
    concurrency: int = 4
    max_tokens: int = 4096
    structured: Structured = "auto"
    endpoint_id: int | None = None

    def url(self, path: str) -> str:
        """Return the address of a path of the API; a query of the base URL stays at the end."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))

    @property
    def shown(self) -> str:
        """The name that reasons and traces show: never the address, which may hold a password."""
        return f"{self.model} at {self.name}" if self.model else self.name

    @property
    def shown_url(self) -> str:
        """The address for people, without a user or password that it may hold."""
        before, at, after = self.base_url.rpartition("@")
        return f"{before.partition('//')[0]}//***@{after}" if at else self.base_url

    def request_hash(self, prompt: Prompt) -> str:
        """Return the fingerprint of everything that decides about an answer."""
        said = [self.base_url, self.model, self.max_tokens, self.structured, prompt.fingerprint]
        return hashlib.blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()
