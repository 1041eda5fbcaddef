"""Links from pages of the admin to lists that are narrowed."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString


def link(text: str, model: str, **narrowed: str | int) -> SafeString:
    """Return a link to a model's list (`search_searchrun`), narrowed by query parameters."""
    address = f"{reverse(f'admin:{model}_changelist')}?{urlencode(narrowed)}"
    return format_html('<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>', address, text)
