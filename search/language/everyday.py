"""Names that a question says by an everyday word: `Holland` → Netherlands, `high blood pressure` → Hypertension."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from search.interfaces import Mention, MentionIndex, ValueIndex, ValueMention
from search.language.synonyms import synonyms_in

_ALIKE = 0.85
"""Similarity of an everyday word to the name: below that of a plural, above that of a word in another language."""
_FORMS = frozenset({"name", "plural", "joined", "part"})
"""How the name may be stored that the everyday word stands for: *Tents*, *Oedema, peripheral*."""
_WHOLE = 0.9
"""Least similarity of a stored name to the word that stands for it."""
_VAGUE = frozenset(("stuff", "thing", "things"))
"""Words that may stand for a type of a schema, but for no node: *the stuff that* is not the node Product."""

_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


def everyday_names(text: str, start: int, end: int, index: MentionIndex, code: str, least: int = 1) -> list[Mention]:
    """Return the names for which the stretches of at least `least` words between two offsets of a text stand.

    The longest stretches come first, and no two share words. A stretch that is itself a name, with or without an
    article before it, is left out, since it needs no other word; several words in lower case may be meant otherwise
    (*cancer research* where a journal is called *Cancer Research*). `code` is the language of the text; a language
    without a list of synonyms has no such names.
    """
    found: list[Mention] = []
    for first, last, others in synonyms_in(text[start:end], code, least):
        first, last = first + start, last + start
        names = {text[first:last], _ARTICLE.sub("", text[first:last])}
        taken = any(one.start < last and first < one.end for one in found) or text[first:last].casefold() in _VAGUE
        if taken or any(_is_name(name, index) for name in names):
            continue
        if named := _first_named(others, cast(Hashable, index)):
            keys, meant = named
            if not set(keys).isdisjoint(index.lookup(text[first:last])):
                continue
            found.append(Mention(first, last, text[first:last], keys, (True,) * len(keys), _ALIKE, "synonym", meant))
    return found


def everyday_values(text: str, spans: Sequence[tuple[int, int]], index: ValueIndex, code: str) -> list[ValueMention]:
    """Return the values for which words in some stretches of a text stand.

    *Outdated* may stand for `Legacy`, *free* for `Free of charge`. No two stretches share words; the longest come
    first.
    """
    found: list[ValueMention] = []
    for start, end in spans:
        for first, last, others in synonyms_in(text[start:end], code):
            first, last = first + start, last + start
            if any(one.start < last and first < one.end for one in found):
                continue
            meant = next((several for other in others if (several := _whole(other, index))), [])
            found += [
                replace(one, start=first, end=last, text=text[first:last], similarity=round(_ALIKE * one.similarity, 4))
                for one in meant
            ]
    return found


def _is_name(said: str, index: MentionIndex) -> bool:
    """Whether words are a name as it is stored; several words in lower case only if the name is in lower case, too."""
    if not index.lookup(said):
        return False
    if " " not in said or not said.islower():
        return True
    return any(any(one.exact) for one in index.find(said) if one.how == "name" and one.text == said)


def _whole(other: str, index: ValueIndex) -> list[ValueMention]:
    """Return the values that a word is as a whole."""
    return [
        one
        for one in index.find(other)
        if one.start == 0 and one.end == len(other) and one.op == "=" and one.similarity >= _WHOLE
    ]


@lru_cache(maxsize=2_000)
def _first_named(others: tuple[str, ...], index: Hashable) -> tuple[tuple[int, ...], str] | None:
    """Return the first of what `_named` finds. Everyday expressions come again, and an index of a release is fixed."""
    return next(_named(others, cast(MentionIndex, index)), None)


def _named(others: tuple[str, ...], index: MentionIndex) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the nodes that one of some words names, with the name; exact names before other forms."""
    for other in others:
        if keys := index.lookup(other):
            yield keys, other
    for other in others:
        for one in index.find(other):
            whole = one.start == 0 and one.end == len(other)
            if whole and one.how in _FORMS and one.similarity >= _WHOLE and one.keys:
                yield one.keys, one.meant or other
