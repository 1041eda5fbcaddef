"""Settings of a language-model server: address, model, key, limits."""

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
    """An exchange without a usable answer; `reason` continues the server's name to a sentence that ends in a full stop.

    `again` says that the same request may succeed soon, after `wait` seconds if the server gave a number. `status` is
    the HTTP status if there was one. `message` is the server's own message.
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
    """A server, and the model to use there.

    `base_url` is used as given; only paths are appended to it. `timeout` is in seconds, for one HTTP request from its
    first byte to the last byte of the response. `concurrency` is the most simultaneous requests of this process.
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
        """Return the address of a path of the API; a query in the base URL stays at the end."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))

    @property
    def shown(self) -> str:
        """The name in reasons and traces. It never contains the address, which may include a password."""
        return f"{self.model} at {self.name}" if self.model else self.name

    @property
    def shown_url(self) -> str:
        """The address for people, without the user and password that it may contain."""
        before, at, after = self.base_url.rpartition("@")
        return f"{before.partition('//')[0]}//***@{after}" if at else self.base_url

    def request_hash(self, prompt: Prompt) -> str:
        """Return the hash of everything that determines an answer."""
        said = [self.base_url, self.model, self.max_tokens, self.structured, prompt.fingerprint]
        return hashlib.blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()
