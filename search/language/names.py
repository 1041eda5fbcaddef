"""Which stretches of a question name nodes, and how much each is to be believed (docs/planning.md, point 1)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.graph import Schema
from search.interfaces import Mention, MentionIndex
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem, words
from search.text import words as split_identifier

_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]+)[\"“”«»„]|(?<!\w)['‘]([^'‘’]+)['’](?!\w)")

_BEFORE_TEXT = " \t\n\"'“‘«¿¡("
"""Characters that may stand before the first word of a question."""


@dataclass(frozen=True, slots=True)
class Named:
    """A mention with what speaks for it.

    `quoted` and `capitalised` are the question's own marks, `exact` says that case agrees with a stored name,
    `ordinary` that all its words are words of asking or of the schema.
    """

    mention: Mention
    words: int
    quoted: bool
    capitalised: bool
    exact: bool
    ordinary: bool

    @property
    def marked(self) -> bool:
        """Whether the question's writing says that this is a name."""
        return self.quoted or self.capitalised

    def overlaps(self, other: Named) -> bool:
        """Whether both use some of the same words."""
        return self.mention.start < other.mention.end and other.mention.start < self.mention.end

    def excludes(self, other: Named) -> bool:
        """Whether one plan cannot start from both: they use the same words, or name the same node."""
        return self.overlaps(other) or not set(self.mention.keys).isdisjoint(other.mention.keys)

    def contains(self, other: Named) -> bool:
        """Whether the other is a proper part of this one."""
        mine, its = self.mention, other.mention
        return mine.start <= its.start and its.end <= mine.end and (mine.start, mine.end) != (its.start, its.end)


def schema_words(schema: Schema) -> frozenset[str]:
    """Return the stems of all words by which a schema calls its types and relations, function words left out."""
    called = [" ".join([split_identifier(kind.name), *kind.aliases]) for kind in schema.node_types]
    for relation in schema.relations:
        called.append(split_identifier(relation.name))
        called += [relation.description, relation.inverse, *relation.aliases]
    return frozenset(stem(word) for phrase in called for word in words(phrase) if word not in FUNCTION_WORDS)


def ordinary_words(schema: Schema) -> frozenset[str]:
    """Return stems that are no names by themselves: function words, words of asking, the schema's own words."""
    return schema_words(schema) | {stem(word) for word in (*FUNCTION_WORDS, *ASKING_WORDS)}


def find_names(text: str, index: MentionIndex, ordinary: frozenset[str], most: int) -> list[Named]:
    """Return up to `most` mentions worth planning for, in the order of the question.

    A name made of ordinary words counts only when case or quotes speak for it. A mention inside a longer one is
    dropped, unless the longer one is less sure of itself: its case disagrees where that of the shorter one agrees.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    begins = len(text) - len(text.lstrip(_BEFORE_TEXT))
    cased = not text.isupper()
    near = _Spans(quoted)
    named = [_named(text, mention, near, ordinary, begins, cased=cased) for mention in index.find(text)]
    named = [name for name in named if not name.ordinary or name.marked]
    kept = _unbeaten(named)
    kept.sort(key=lambda name: (name.quoted, name.marked and name.exact, name.exact, name.words), reverse=True)
    return sorted(kept[:most], key=lambda name: (name.mention.start, -name.mention.end))


class _Spans:
    """Stretches of a text that do not overlap, looked up by where they begin."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._spans = spans
        self._starts = [first for first, _ in spans]

    def near(self, start: int, end: int, slack: int) -> bool:
        """Whether one of them begins and ends within `slack` characters of these."""
        for at in range(bisect_left(self._starts, start - slack), bisect_right(self._starts, start + slack)):
            if abs(self._spans[at][1] - end) <= slack:
                return True
        return False


def _named(text: str, mention: Mention, quoted: _Spans, ordinary: frozenset[str], begins: int, *, cased: bool) -> Named:
    """Return a mention with what speaks for it; the text begins at `begins`, and is `cased` unless all in capitals."""
    said = words(mention.text)
    return Named(
        mention=mention,
        words=len(said),
        quoted=quoted.near(mention.start, mention.end, 2),
        capitalised=cased and _capitalised(mention, begins_text=mention.start <= begins),
        exact=any(mention.exact),
        ordinary=all(stem(word) in ordinary for word in said),
    )


def _capitalised(mention: Mention, *, begins_text: bool) -> bool:
    """Whether capitals mark the mention: some word of it that is not the first of the question begins with one."""
    initials = [match.group()[0] for match in re.finditer(r"[^\W_]+", mention.text)]
    return any(letter.isupper() or letter.isdigit() for letter in (initials[1:] if begins_text else initials))


def _unbeaten(named: Sequence[Named]) -> list[Named]:
    """Return the mentions that no longer one beats; only those that begin where a longer one may begin are compared."""
    ordered = sorted(named, key=lambda name: name.mention.start)
    starts = [name.mention.start for name in ordered]
    widest = max((name.mention.end - name.mention.start for name in named), default=0)

    def beaten(name: Named) -> bool:
        first = bisect_left(starts, name.mention.end - widest)
        last = bisect_right(starts, name.mention.start)
        return any(_beats(ordered[at], name) for at in range(first, last))

    return [name for name in named if not beaten(name)]


def _beats(longer: Named, shorter: Named) -> bool:
    if not longer.contains(shorter):
        return False
    sure, surer = (longer.exact, longer.marked), (shorter.exact, shorter.marked)
    return sure >= surer or longer.mention.similarity < 1.0
