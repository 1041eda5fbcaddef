"""Parts of a result that stand on its page many times: made here, because a template takes four times as long for them.

Of a page with twenty results, conditions and buttons are half of all the pieces that a template would put together.
Results and conditions are those of `search.views.shown.results`, a room above this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

register = template.Library()

LONGEST_LABEL = 90
"""Characters of a condition that are shown."""


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


@register.simple_tag
def judging(result: Any, mark: str) -> SafeString:
    """Return the buttons that say whether a result is right; `mark` is what the caller has said already."""
    return mark_safe(" ".join(_button(result, kind, sign, said, mark == kind) for kind, sign, said in _BUTTONS))


_BUTTONS: Sequence[tuple[str, str, str]] = (("right", "✓", "Right"), ("wrong", "✗", "Wrong"))


def _button(result: Any, kind: str, sign: str, said: str, pressed: bool) -> str:
    name, state = ("withdraw", "true") if pressed else (kind, "false")
    return (
        f'<button form="feedback" name="{name}" value="{escape(result.id)}" data-kind="{kind}" aria-pressed="{state}">'
        f'<span aria-hidden="true">{sign}</span> {said}<span class="unseen"> – {escape(result.name)}</span></button>'
    )


def _condition(one: Any) -> str:
    title = f' title="{escape(one.note)}"' if one.note else ""
    label = one.label if len(one.label) <= LONGEST_LABEL else Truncator(one.label).chars(LONGEST_LABEL)
    return (
        f'<li class="{escape(one.status)}"{title}><span class="tick" aria-hidden="true">{escape(one.mark)}</span>'
        f'<span class="what">{escape(label)}</span><span class="word">{escape(one.word)}</span></li>'
    )
