"""Reads where traces are sent to, without loading anything of OpenTelemetry."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from grasp_site.environment import SettingError


def read_endpoint(text: str) -> str:
    """Return the base URL of an OTLP/HTTP receiver without its final slash; an empty text stays empty.

    Raises ValueError with a sentence.
    """
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError("it takes the base URL of an OTLP/HTTP receiver, such as http://127.0.0.1:4318")
    return text.rstrip("/")


def read_headers(text: str) -> dict[str, str]:
    """Return the headers of `name=value` pairs; values may be percent-encoded. Raises `SettingError`.

    The message repeats no value, because a value may be a key.
    """
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not equals or not name.strip() for name, equals, _ in pairs):
        raise SettingError("OTEL_EXPORTER_OTLP_HEADERS takes name=value, separated by commas.")
    return {name.strip().lower(): unquote(value.strip()) for name, _, value in pairs}
