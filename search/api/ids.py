"""URLs that contain node ids: an id may hold any Unicode character, slashes and line breaks included."""

from __future__ import annotations

from django.http import HttpRequest


class AnythingConverter:
    """URL converter that matches the rest of a URL, whatever it contains; Django's `path` stops at a line break."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        """Return the text unchanged; the server has already decoded it."""
        return value

    def to_url(self, value: str) -> str:
        """Return the text unchanged; `reverse` percent-encodes it."""
        return value


def id_in_path(request: HttpRequest, matched: str) -> str:
    """Return the id at the end of a URL; `matched` is the text that the route matched.

    An encoded slash at the end (`%2F`) belongs to the id, even if the caller left out the slash that ends the URL.
    After decoding both slashes look the same, so the function reads the raw path of the request.
    """
    scope = getattr(request, "scope", {})
    raw = scope.get("raw_path") or b""
    return f"{matched}/" if raw.lower().endswith(b"%2f") else matched
