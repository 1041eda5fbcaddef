"""Addresses that hold identifiers: any Unicode, slashes and line breaks included."""

from __future__ import annotations

from django.http import HttpRequest


class AnythingConverter:
    """Matches what is left of an address, whatever it holds; Django's `path` stops at a line break."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        """Return the text, which the server has decoded already."""
        return value

    def to_url(self, value: str) -> str:
        """Return the text; `reverse` percent-encodes it."""
        return value


def id_in_path(request: HttpRequest, matched: str) -> str:
    """Return the identifier at the end of an address, where `matched` is what the route found.

    An encoded slash at the end belongs to the identifier, also when the caller left out the slash that ends the
    address: once decoded the two look the same, so the address is looked at as it came.
    """
    scope = getattr(request, "scope", {})
    raw = scope.get("raw_path") or b""
    return f"{matched}/" if raw.lower().endswith(b"%2f") else matched
