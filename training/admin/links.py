"""Links from pages of the admin to lists that are narrowed, and to forms that are filled in."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString


def link(text: str, model: str, **narrowed: str | int) -> SafeString:
    """Return a link to a model's list (`search_searchrun`), narrowed by query parameters."""
    return _to(reverse(f"admin:{model}_changelist"), text, narrowed)


def launch_link(text: str, kind: str, **chosen: str) -> SafeString:
    """Return a link to the form that launches a job of a kind, with what is chosen there."""
    return _to(reverse("admin:search_job_launch"), text, {"kind": kind, **chosen})


def _to(address: str, text: str, query: dict[str, str | int]) -> SafeString:
    shown = f"{address}?{urlencode(query)}"
    return format_html('<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>', shown, text)
