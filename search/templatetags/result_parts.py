"""Parts of a result that stand on its page many times: made here, because a template takes four times as long for them.

Of a page with twenty results, conditions and buttons are half of all the pieces that a template would put together.
Results and conditions are those of `search.views.shown.results`, a room above this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

register = template.Library()

LONGEST_LABEL = 90
"""Characters of a condition that are shown."""
LONGEST_COLLECTED = 120
"""Characters of a name with which a result is collected."""


@register.filter
def conditions(result: Any) -> SafeString:
    """Return the conditions of the plan, checked for one result, as a list; empty if there are none.

    An order that the result tells in words of its own is not told again.
    """
    told = [_condition(one) for one in result.ticks if one.kind != "order" or not result.ordered]
    if not told:
        return SafeString()
    # Every part is escaped in `_condition`.
    return mark_safe(f'<ul class="conditions" aria-label="Conditions of the plan">{"".join(told)}</ul>')


@register.simple_tag(takes_context=True)
def foot(context: Context, result: Any) -> SafeString:
    """Return what can be done with a result: judge it, collect it, explore from it, and ask why it is there."""
    search = context["search"]
    if search.only_stored:
        return SafeString('<div class="foot"></div>')
    unseen = f'<span class="unseen"> – {escape(result.name)}</span>'
    marks = "" if search.pending else _marks(context, result, unseen)
    why = reverse("search-why", args=[search.id, result.rank])
    # Every part is escaped where it is written.
    return mark_safe(
        f'<div class="foot">{marks}\n    <details class="why"><summary data-key="w" data-key-says="Why here">Why here'
        f'{unseen}</summary>\n      <div class="drawer"><p><a href="{why}" data-later>The sum and the evidence'
        f'<span class="unseen"> of {escape(result.name)}</span></a></p></div>\n    </details></div>'
    )


def _marks(context: Context, result: Any, unseen: str) -> str:
    """Return the buttons and links that a search that has ended has for each result."""
    search, mark = context["search"], (context.get("marks") or {}).get(result.id)
    buttons = " ".join(_button(result, kind, sign, said, mark == kind) for kind, sign, said in _BUTTONS)
    links = f"{_collect(context, result, unseen)} {_explore(search, result, unseen)}" if search.searchable else ""
    return f'<p class="marks" data-node="{escape(result.id)}">{buttons} {links}</p>'


def _collect(context: Context, result: Any, unseen: str) -> str:
    search, place = context["search"], (context.get("collected") or {}).get(result.id)
    title = f' title="In “{escape(place)}”"' if place else ""
    sign, said = ("✓", "Collected") if place else ("+", "Collect")
    address = (
        f"{context.get('collect', '')}?kb={quote(search.knowledge_base)}&amp;search={search.id}"
        f"&amp;node={quote(result.id, safe='')}&amp;label={quote(_short(result.name, LONGEST_COLLECTED), safe='')}"
    )
    return (
        f'<a class="collect" href="{address}" data-key="c" data-key-says="Collect"{title}>'
        f'<span aria-hidden="true">{sign}</span> {said}{unseen}</a>'
    )


def _explore(search: Any, result: Any, unseen: str) -> str:
    address = f"{reverse('search-explore', args=[search.knowledge_base])}?search={search.id}&amp;rank={result.rank}"
    return (
        f'<a class="go-explore" href="{address}" data-key="x" data-key-says="Explore the graph from here">'
        f"Explore{unseen}</a>"
    )


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else Truncator(text).chars(longest)


_BUTTONS: Sequence[tuple[str, str, str]] = (("right", "✓", "Right"), ("wrong", "✗", "Wrong"))


def _button(result: Any, kind: str, sign: str, said: str, pressed: bool) -> str:
    name, state = ("withdraw", "true") if pressed else (kind, "false")
    return (
        f'<button form="feedback" name="{name}" value="{escape(result.id)}" data-kind="{kind}" aria-pressed="{state}">'
        f'<span aria-hidden="true">{sign}</span> {said}<span class="unseen"> – {escape(result.name)}</span></button>'
    )


def _condition(one: Any) -> str:
    title = f' title="{escape(one.note)}"' if one.note else ""
    label = _short(one.label, LONGEST_LABEL)
    return (
        f'<li class="{escape(one.status)}"{title}><span class="tick" aria-hidden="true">{escape(one.mark)}</span>'
        f'<span class="what">{escape(label)}</span><span class="word">{escape(one.word)}</span></li>'
    )
