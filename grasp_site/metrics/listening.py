"""Reads the address at which a worker serves its metrics."""

from __future__ import annotations


def read_listen(text: str) -> tuple[str, int] | None:
    """Return host and port of `host:port`, None for an empty text. Raises ValueError with a sentence."""
    if not text:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is no address; it takes host:port such as 127.0.0.1:9464 or 0.0.0.0:9464")
    return host.strip("[]"), int(port)
