"""Filters that turn values into the text that pages show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from search.domain.time_range import in_words
from search.language.reader import localised, number
from search.language.snippets import places_of, telling_stems
from search.services.collections.edits import text_mark
from search.text import words as as_words

register = template.Library()


@register.simple_tag
def entity_url(knowledge_base: str, node_id: str) -> str:
    """Return the address of an entity's page.

    Browsers and servers normalise empty and dotted segments of a path, so an id with such segments is put into the
    query.
    """
    if any(segment in ("", ".", "..") for segment in node_id.split("/")):
        return f"{reverse('search-entity-by-id', args=[knowledge_base])}?{urlencode({'id': node_id})}"
    return reverse("search-entity", args=[knowledge_base, node_id])


@register.simple_tag
def seen_mark(*texts: str) -> str:
    """Return the mark of texts that a form shows for changing."""
    return text_mark(*texts)


@register.filter
def marked(text: str, question: str) -> SafeString:
    """Return text as HTML with the question's words of content in <mark>; words of one stem count as one word."""
    parts, at = [], 0
    for begin, end, _ in places_of(text, telling_stems(question)):
        parts += [escape(text[at:begin]), "<mark>", escape(text[begin:end]), "</mark>"]
        at = end
    # Every part is escaped, except the tags added here.
    return mark_safe("".join([*parts, escape(text[at:])]))


@register.filter
def sentence(text: str) -> SafeString:
    """Return what a stage says as HTML: with a capital letter, a full stop, and `commands` in <code>.

    Stages say it as a part of a longer sentence, too.
    """
    said = f"{text[:1].upper()}{text[1:]}" + ("." if text and text[-1] not in ".!?:)”" else "")
    parts = [f"<code>{escape(part)}</code>" if at % 2 else escape(part) for at, part in enumerate(said.split("`"))]
    # Every part is escaped, except the tags added here. A backtick without its partner stays text.
    return mark_safe("".join(parts)) if len(parts) % 2 else escape(said)


@register.filter
def milliseconds(value: float | None) -> str:
    """Return a duration: `0.4 ms`, `62 ms`, `1.24 s`."""
    if value is None:
        return ""
    if value >= 1000:
        return localised(f"{value / 1000:.2f} s")
    return localised(f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms")


@register.filter
def duration(seconds: float | None) -> str:
    """Return a duration in seconds for people: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return localised(f"{seconds:.1f} s")
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@register.filter
def time_range(seconds: Sequence[float]) -> str:
    """Return a range of two durations in seconds for people: `2 to 4 minutes`."""
    return localised(in_words(*seconds))


@register.filter
def score(value: float | None, places: int = 4) -> str:
    """Return a score with `places` decimals, or a dash if there is none."""
    return "–" if value is None else localised(f"{value:.{places}f}")


@register.filter
def percent(value: float | None) -> str:
    """Return a probability as a percentage."""
    if value is None:
        return ""
    return "< 1 %" if 0 < value < 0.01 else f"{100 * value:.0f} %"


@register.filter
def words(identifier: str) -> str:
    """Return the name of a type, relation or field as words."""
    return as_words(identifier)


@register.filter
def thousands(value: int) -> str:
    """Return a count with the reader's mark between thousands."""
    return number(value)


@register.filter
def of(values: dict[str, Any] | str, key: str) -> Any:
    """Return the value of a key, an empty string where there is none, or where the page has no such values."""
    return values.get(key, "") if isinstance(values, dict) else ""
