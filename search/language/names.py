"""Which stretches of a question name nodes, and how much each is to be believed (docs/planning.md, point 1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.graph import Schema
from search.interfaces import Mention, MentionIndex
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem, words
from search.text import words as split_identifier

_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]+)[\"“”«»„]|(?<!\w)['‘]([^'‘’]+)['’](?!\w)")


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
    named = [_named(text, mention, quoted, ordinary) for mention in index.find(text)]
    named = [name for name in named if not name.ordinary or name.marked]
    kept = [name for name in named if not any(_beats(other, name) for other in named)]
    kept.sort(key=lambda name: (name.quoted, name.marked and name.exact, name.exact, name.words), reverse=True)
    return sorted(kept[:most], key=lambda name: (name.mention.start, -name.mention.end))


def _named(text: str, mention: Mention, quoted: Sequence[tuple[int, int]], ordinary: frozenset[str]) -> Named:
    said = words(mention.text)
    return Named(
        mention=mention,
        words=len(said),
        quoted=any(abs(first - mention.start) <= 2 and abs(last - mention.end) <= 2 for first, last in quoted),
        capitalised=_capitalised(text, mention),
        exact=any(mention.exact),
        ordinary=all(stem(word) in ordinary for word in said),
    )


def _capitalised(text: str, mention: Mention) -> bool:
    """Whether capitals mark the mention: some word of it that is not the first of the question begins with one."""
    if text.isupper():
        return False
    begins_text = not text[: mention.start].strip(" \t\n\"'“‘«¿¡(")
    initials = [match.group()[0] for match in re.finditer(r"[^\W_]+", mention.text)]
    return any(letter.isupper() or letter.isdigit() for letter in (initials[1:] if begins_text else initials))


def _beats(longer: Named, shorter: Named) -> bool:
    if not longer.contains(shorter):
        return False
    sure, surer = (longer.exact, longer.marked), (shorter.exact, shorter.marked)
    return sure >= surer or longer.mention.similarity < 1.0
